// Package show writes the data of a command to standard output: tables, JSON, names, plots.
//
//	a value ──▶ Printer ──┬─ table, wide   aligned columns for people
//	                      ├─ json          one document in the versioned schema docs/reference/rolectl-v1.json
//	                      └─ name          one name on a line, for xargs
//
// Promises: colours only on a terminal, and none if NO_COLOR is set. Text from records is printed
// without control characters, so that a record cannot steer the terminal of its reader.
package show
