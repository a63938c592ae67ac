package natskv

import (
	"strings"
	"testing"
)

// FuzzReach: whatever a domain and a prefix are, requests go to subjects that a server takes, and a
// prefix that is a domain's is that domain.
func FuzzReach(f *testing.F) {
	f.Add("", "")
	f.Add("hub", "")
	f.Add("hub", "JS.A.API")
	f.Add("", "$JS.hub.API")
	f.Add("", "$JS.API.")
	f.Add("", "JS.A.API.")
	f.Add("a b", "")
	f.Add("", "JS.*.API")
	f.Add("", "JS..API")
	f.Fuzz(func(t *testing.T, domain, prefix string) {
		r, err := NewReach(domain, prefix)
		if err != nil {
			if !r.IsZero() {
				t.Errorf("%v, and %+v", err, r)
			}
			return
		}
		for _, subject := range []string{r.API("INFO"), r.Publish("$KV.b.k")} {
			for word := range strings.SplitSeq(subject, ".") {
				if word == "" || strings.ContainsAny(word, "*> \t\r\n") {
					t.Errorf("(%q, %q): %q", domain, prefix, subject)
				}
			}
		}
		if domain != "" && r.Domain() != domain {
			t.Errorf("domain %q: %+v", domain, r)
		}
		if named := r.Domain(); named != "" {
			if same, err := NewReach(named, ""); err != nil || same != r {
				t.Errorf("(%q, %q): %+v, and its domain alone %+v, %v", domain, prefix, r, same, err)
			}
		}
	})
}
