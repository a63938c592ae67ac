package fencing

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzPattern: what is taken for a pattern matches the keys that the server would send for it, and
// no others.
func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{
		"a", "a.b", "*", ">", "a.*", "a.>", "*.b", "*.>", "a.*.c.>", ">.a", "a*", "a..b", ".",
		"", "a.", "*a.b", "a b", "_seal", "\xff",
	} {
		for _, key := range []string{"a", "a.b", "a.b.c", "b", "a.x.c.d.e", ""} {
			f.Add(pattern, key)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, key string) {
		var err error
		var matched bool
		most := 256<<10 + 64*uint64(len(pattern)+len(key))
		if heap.Took(most, func() { err, matched = checkPattern(pattern), matches(pattern, key) }) > most {
			t.Errorf("more than %d bytes for %d and %d", most, len(pattern), len(key))
		}
		if err != nil || checkKey(key) != nil || len(pattern) > 200 {
			return
		}
		text := regexp.QuoteMeta(pattern)
		text = strings.ReplaceAll(text, `\*`, `[^.]+`)
		text = strings.ReplaceAll(text, `>`, `.+`)
		if want := regexp.MustCompile(`^(?:` + text + `)$`).MatchString(key); matched != want {
			t.Fatalf("%q matches %q: %v", pattern, key, matched)
		}
	})
}
