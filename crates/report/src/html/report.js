// Sorting, filtering and copying. The page can be read without it: what works
// with it alone is hidden, or does not exist, until it runs.
(() => {
  "use strict";

  // What a row is sorted by: a number, a text, or null where there is nothing.
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.v;
    if (value === undefined) return cell.textContent.trim().toLowerCase();
    return value === "" || Number.isNaN(Number(value)) ? null : Number(value);
  };

  // Rows without a value stay at the end; those that tie keep their order.
  const sort = (body, rows, column, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [key(row, column), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return a < b ? -sign : a > b ? sign : 0;
    });
    body.append(...keyed.map(([, row]) => row));
  };

  const makeSortable = (table, rows) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const other = before === "ascending" ? "descending" : "ascending";
        const direction = before ? other : head.dataset.first || "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction);
        sort(table.tBodies[0], rows, column, direction);
      });
    });
  };

  // All words have to occur in a row, or in the full names of its titles.
  const makeFilter = (tools, rows) => {
    const input = tools.querySelector("input");
    const output = tools.querySelector("output");
    const texts = rows.map((row) => {
      const titles = [...row.querySelectorAll("[title]")].map((each) => each.title);
      return [row.textContent, ...titles].join("\n").toLowerCase();
    });
    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        if (!row.hidden) shown += 1;
      });
      const count = (n) => n.toLocaleString("en");
      output.textContent = `showing ${count(shown)} of ${count(rows.length)}`;
    };
    input.addEventListener("input", filter);
    tools.hidden = false;
    filter(); // A browser may have kept what was typed.
  };

  for (const listing of document.querySelectorAll(".listing")) {
    const table = listing.querySelector("table");
    const tools = listing.querySelector(".tools");
    const rows = [...table.tBodies[0].rows];
    makeSortable(table, rows);
    if (tools) makeFilter(tools, rows);
  }

  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    const said = button.parentElement.querySelector(".said");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        said.textContent = "copied";
      } catch {
        select(source);
        said.textContent = document.execCommand("copy") ? "copied" : "selected";
      }
    });
  }
})();
