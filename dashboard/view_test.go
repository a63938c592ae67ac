package dashboard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestViewsAreBounded: the view that nobody has asked for the longest makes room for another one.
// One that a stream follows stays until the stream ends.
func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	look := func(name string) *view {
		t.Helper()
		v, err := s.h.view(name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	fill := func(text string, kept string) {
		t.Helper()
		for i := range 2 * maxViews {
			look(fmt.Sprintf("/members?q=%s%d", text, i))
			look(kept)
		}
	}
	followed, err := s.h.follow("/events?role=a")
	if err != nil {
		t.Fatal(err)
	}
	asked := look("/events?role=b")
	fill("x", "/events?role=b")
	if look("/events?role=a") != followed || look("/events?role=b") != asked {
		t.Error("a view that is looked at was drawn again")
	}
	if n := len(s.h.views); n != maxViews+1 {
		t.Errorf("%d views are remembered", n)
	}
	s.h.unfollow(followed)
	fill("y", "/events?role=b")
	if look("/events?role=a") == followed {
		t.Error("a view that nobody looks at is kept")
	}
}

// TestMembersOfOneName: a candidate and a worker-only member of one name have rows of their own.
func TestMembersOfOneName(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	p := crowd(1, 2, "a")
	p.members = []findings.MemberFacts{
		{Info: election.MemberInfo{Instance: "a", TTL: 10}},
		{Info: election.MemberInfo{Instance: "a", TTL: 10, WorkerOnly: true}},
	}
	for _, screen := range screens {
		if screen.path != "members" {
			continue
		}
		root, err := s.h.paint(t.Context(), screen, p, url.Values{})
		if err != nil {
			t.Fatal(err)
		}
		body := string(root.html(nil))
		if strings.Count(body, `<tr id="m:candidate:a"`) != 1 || strings.Count(body, `<tr id="m:worker:a"`) != 1 {
			t.Error(body)
		}
	}
}
