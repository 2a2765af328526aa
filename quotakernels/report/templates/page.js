(() => {
  const element = (id) => document.getElementById(id);
  const part = element("any-quota"), slider = element("slider"), field = element("field");
  const data = JSON.parse(element("lines").textContent);
  const columns = ["places", "found", "cost", "brings"].filter((x) => x in data.models[0]);
  const lines = data.models.map((model) => {
    const sums = {};
    for (const name of columns) {
      let sum = 0;
      sums[name] = model[name].map((step) => (sum += step));
    }
    return sums;
  });
  const last = (values) => values[values.length - 1];
  const rows = last(lines[0].places), positives = last(lines[0].found);
  const paid = data.axis === "cost", gains = columns.includes("brings");

  /* What a line has where its axis reaches x; of several such cuts the last. */
  const at = (line, x) => {
    const along = line[data.axis];
    let low = 0, high = along.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (along[middle] <= x) low = middle; else high = middle;
    }
    const part = high < along.length ? (x - along[low]) / (along[high] - along[low]) : 0;
    const found = {};
    for (const name of columns) {
      const start = line[name][low];
      found[name] = part ? start + part * (line[name][high] - start) : start;
    }
    return found;
  };
  const random = (x) => {
    const share = data.end ? x / data.end : 0, found = {};
    for (const name of columns) {
      const values = lines[0][name];
      found[name] = values[0] + share * (last(values) - values[0]);
    }
    return found;
  };

  const form = (digits) => {
    const known = new Intl.NumberFormat("en-US", digits);
    return (x) => Number.isFinite(x) ? known.format(x).replace("-", "\u2212") : "";
  };
  const large = form({ maximumFractionDigits: 1 }), small = form({ maximumSignificantDigits: 2 });
  const number = (x) => Math.abs(x) > 1e-9 && Math.abs(x) < 1 ? small(x) : large(x);
  const counted = (x, several, one) => `${number(x)} ${number(x) === "1" ? one : several}`;
  const tenths = form({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const percent = (x) => Number.isFinite(x) ? (x > 0 && x < 0.01 ? small : tenths)(100 * x) + "%" : "";
  const cents = form({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const whole = form({ maximumFractionDigits: 0, roundingMode: "halfEven" });
  const money = (x) => (Math.abs(x) >= 999.995 ? whole : cents)(x);
  const amount = (x) => `${money(x)} ${part.dataset.currency}`.trim();
  const lift = form({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const cells = (found) => {
    const rate = found.places ? found.found / found.places : NaN;
    const texts = paid ? [number(found.places)] : [];
    texts.push(number(found.found), percent(rate), ...(gains ? [money(found.brings)] : []));
    return [...texts, lift(rate / (positives / rows))];
  };

  const moving = [...document.querySelectorAll("[data-at]")].map((line) => [
    line, Number(line.dataset.at), Number(line.closest("svg").dataset.perPlace),
  ]);
  const places = (x) => paid ? lines.map((line) => at(line, x).places) : [x];
  const before = places(data.start);

  const show = (x) => {
    const found = lines.map((line) => at(line, x));
    const compared = found.map((y) => gains ? y.brings : y.found), top = Math.max(...compared);
    const best = compared.map((y) => Math.abs(top - y) <= 1e-9 * Math.max(1, Math.abs(top)));
    const chance = random(x);
    [...found, chance].forEach((y, k) => {
      const row = part.querySelectorAll("tbody tr")[k];
      cells(y).forEach((text, i) => { row.children[i + 1].textContent = text; });
      row.classList.toggle("first", Boolean(best[k]) && lines.length > 1);
    });
    const names = data.models.filter((_, k) => best[k]).map((model) => model.name);
    const first = found[best.indexOf(true)];
    const brings = gains ? `, and brings ${amount(first.brings)} (at random ${amount(chance.brings)})` : "";
    const several = names.length > 1 ? `${names.length} models are equal: ${names.join(", ")}. Each` : `${names[0]}`;
    element("said").textContent = first.places
      ? `${several} finds ${number(first.found)} of ${counted(positives, part.dataset.positives, "positive")} in ${counted(first.places, "places", "place")} (at random ${number(chance.found)})${brings}.`
      : "That selects nobody.";
    const now = places(x);
    for (const [line, model, scale] of moving) {
      line.setAttribute("transform", `translate(${((now[model] - before[model]) * scale).toFixed(2)} 0)`);
    }
  };
  /* What is asked for, within what there is; rows are whole. */
  const wanted = (input) => {
    const x = Math.min(Math.max(Number(input.value) || 0, 0), data.end);
    return slider.step === "1" ? Math.round(x) : x;
  };
  const move = (from, to) => {
    const x = wanted(from);
    to.value = x;
    show(x);
  };
  slider.addEventListener("input", () => move(slider, field));
  field.addEventListener("input", () => move(field, slider));
  field.addEventListener("change", () => { field.value = wanted(field); });
  slider.value = field.value = data.start;
  for (const hidden of document.querySelectorAll(".scripted")) hidden.hidden = false;
  show(data.start);
})();
