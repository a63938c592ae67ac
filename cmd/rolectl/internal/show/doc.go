// Package show writes what a command has found: tables, JSON, names, plots. What is written here is data, and goes to
// standard output.
//
//	a value ──▶ Printer ──┬─ table, wide   aligned columns for people
//	                      ├─ json          one document in the versioned schema docs/reference/rolectl-v1.json
//	                      └─ name          one name on a line, for xargs
//
// Promises: colours only on a terminal, and none where NO_COLOR is set; what bucket records say is printed without control
// characters, so that nobody who may write a record can write to the terminal of who reads it.
//
// Files: printer.go formats · table.go columns · text.go durations and safe text · color.go · plot.go a histogram ·
// progress.go a progress bar.
package show
