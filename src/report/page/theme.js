/* theme.js - light or dark, decided before anything is shown.
 * SPDX-License-Identifier: Apache-2.0 */
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null; // what the reader asked for, else the system decides

  // Storage may be forbidden (a local file, a private window).
  try {
    chosen = localStorage.getItem("weir-theme");
  } catch (e) {
    chosen = null;
  }

  function apply() {
    const theme = chosen === "light" || chosen === "dark"
      ? chosen : dark.matches ? "dark" : "light";
    if (root.dataset.theme !== theme) {
      root.dataset.theme = theme;
      root.dispatchEvent(new Event("weir-theme"));
    }
  }

  root.classList.add("js");
  root.addEventListener("weir-toggle", function () {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("weir-theme", chosen);
    } catch (e) {
      // Then it holds for this visit.
    }
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
})();
