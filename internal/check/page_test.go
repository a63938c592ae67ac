package main

import (
	"strings"
	"testing"
)

// TestPageOff: the page is left out on request, which is said, and never in CI.
func TestPageOff(t *testing.T) {
	for _, test := range []struct {
		page, ci string
		tried    bool
	}{{"", "", true}, {"off", "", false}, {"off", "true", true}} {
		t.Setenv("PAGE", test.page)
		t.Setenv("CI", test.ci)
		steps, err := page(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if early, err := browser(t.Context()); err != nil || (len(early) > 0) != test.tried {
			t.Errorf("PAGE=%s CI=%s: before it %v, %v", test.page, test.ci, early, err)
		}
		last := steps[len(steps)-1].line
		if tried := strings.Contains(last, "go test"); tried != test.tried {
			t.Errorf("PAGE=%s CI=%s: %s", test.page, test.ci, last)
		}
		if said := strings.Contains(last, "PAGE=off"); said == test.tried {
			t.Errorf("PAGE=%s CI=%s: %s", test.page, test.ci, last)
		}
	}
}
