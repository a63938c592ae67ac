package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FirstFew names the first few.
func FirstFew(names []string) string {
	const few = 8
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// Pairs is a map as name=value, sorted by name.
func Pairs(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+m[k])
	}
	return strings.Join(all, ",")
}

// Words is a name of several words as people write it.
func Words(name string) string { return strings.ReplaceAll(name, "_", " ") }
