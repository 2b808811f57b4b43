// A table with sortable columns that shows its first rows and can be saved completely. A column has a title, a value
// to sort and save by, and optionally a cell to show instead of the value.
const methodColumn = (of = (m) => m, title = "method") => ({
  ...{ title, value: (row) => methods[of(row)].name, cell: (row) => methodLink(of(row)) },
});

// A column of numbers, which `written` turns into text or elements; a dash marks missing values.
const numberColumn = (title, { value, written = (x) => x, hint }) => ({
  ...{ title, hint, value, isNumber: true, cell: (row) => (value(row) === null ? "–" : written(value(row), row)) },
});

class SortedTable {
  constructor(label, columns, { className = "", column = 0, descending = true, first = 50 } = {}) {
    Object.assign(this, { label, columns, column, descending, first, shown: first, rows: [] });
    this.body = el("tbody", {});
    this.more = el("div", { class: "more" });
    this.heads = columns.map(({ title, isNumber, hint }, c) =>
      el(
        "th",
        { scope: "col", class: isNumber && "num", title: hint },
        el("button", { type: "button", onclick: () => this.sortBy(c) }, title),
      ),
    );
    const whole = el("table", { class: className }, el("thead", {}, tableRow(this.heads)), this.body);
    this.region = scrollRegion(label, whole);
  }

  elements() {
    return [this.region, this.more];
  }

  // The headings and all rows, as they are saved.
  contents() {
    const rows = this.sorted().map((row) => this.columns.map(({ value }) => value(row)));
    return [this.columns.map(({ title }) => title), rows];
  }

  card(title, ...more) {
    const save = csvButton(this.label, () => this.contents());
    return cardWithTools(title, save, this.elements(), more);
  }

  setRows(rows) {
    Object.assign(this, { rows, shown: this.first });
    this.draw();
    return this;
  }

  // Text is sorted from A to Z first, numbers from the largest down.
  sortBy(column) {
    this.descending = this.column === column ? !this.descending : Boolean(this.columns[column].isNumber);
    this.column = column;
    this.draw();
  }

  // Missing values come last in either direction; ties keep their order.
  sorted() {
    const { value, isNumber } = this.columns[this.column];
    const sign = this.descending ? -1 : 1;
    const keyed = this.rows.map((row) => [value(row), row]);
    const compare = ([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (isNumber ? a - b : String(a).localeCompare(String(b)));
    };
    return keyed.sort(compare).map(([, row]) => row);
  }

  draw() {
    const direction = this.descending ? "descending" : "ascending";
    this.heads.forEach((th, c) => th.setAttribute("aria-sort", c === this.column ? direction : "none"));
    setContent(
      this.body,
      this.sorted()
        .slice(0, this.shown)
        .map((row) => this.row(row)),
    );
    const showMore = () => {
      this.shown += 4 * this.first;
      this.draw();
    };
    setContent(this.more, moreButton(this.rows.length - this.shown, showMore));
  }

  row(row) {
    const cells = this.columns.map(({ isNumber, value, cell }, c) => {
      const content = cell ? cell(row) : value(row);
      if (c === 0) return rowHead(content);
      return isNumber ? numberCell(content) : el("td", {}, content);
    });
    return tableRow(cells);
  }
}
