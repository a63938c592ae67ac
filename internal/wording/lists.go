package wording

import (
	"fmt"
	"strings"
)

// Count is a number with its noun: "1 worker", "2 workers".
func Count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// FirstFew lists the first names, and says how many more there are.
func FirstFew(names []string) string {
	const few = 8
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// Words is a name such as no_worker with spaces between its words.
func Words(name string) string { return strings.ReplaceAll(name, "_", " ") }
