package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestSteeredOnThePage: the page says which zone is drained and which role is paused for all, by
// whom and why, and does not count a paused role as one that nobody leads.
func TestSteeredOnThePage(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	s.member("a", "billing", "held")
	s.led("held", "a")
	o := s.h.options.Observer
	if err := o.PauseRole(t.Context(), "held", election.Steering{By: "ops", Reason: "migration"}); err != nil {
		t.Fatal(err)
	}
	if err := o.DrainZone(t.Context(), "dc1", election.Steering{By: "<b>"}); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the page shows both", patience, func() (bool, string) {
		d := document[struct {
			Paused, Unled int
			Steered       []steeredRow
		}](s, "/now.json")
		return d.Paused == 1 && d.Unled == 0 && len(d.Steered) == 2 && d.Steered[0].Zone == "dc1" &&
			d.Steered[1].Text == "paused for all by ops (migration)", s.get("/now.json", http.StatusOK)
	})
	for path, want := range map[string][]string{
		"/":                {"rolectl roles resume held", "rolectl zone undrain dc1", "drained by &lt;b&gt;", "1 paused"},
		"/role?name=held":  {"Paused since", "would lead if the role was not paused"},
		"/doctor":          {"role held is paused for all by ops (migration)"},
		"/?show=unled&q=h": {"No role matches"},
	} {
		body := s.get(path, http.StatusOK)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s: no %q in\n%s", path, text, body)
			}
		}
	}
}
