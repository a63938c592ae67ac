package show

import (
	"maps"
	"slices"
	"strings"
)

// Pairs is a map as "name=value,name=value", sorted by name.
func Pairs(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+m[k])
	}
	return strings.Join(all, ",")
}
