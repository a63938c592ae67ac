// Package show writes the data of a command to standard output: tables, JSON, names, plots.
//
// A Printer writes aligned columns for people (table, wide), one document of the schema
// docs/reference/rolectl-v1.json (json), or one name on each line for xargs (name).
//
// Promises: colours only on a terminal, and none if NO_COLOR is set. Text from records is printed
// without control characters, so that a record cannot steer the terminal of its reader.
package show
