// Package check tests what deploy holds with the tools that will read it: Prometheus' own parser
// for every query of rules, dashboard and guide, the real metrics for every name and label, and
// promtool for the rules. It is a module of its own: the library does not have these dependencies.
//
// promtool is taken from PATH, or from Debian's package. PROMTOOL=off leaves it out, but not in CI.
package check
