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

// TestFollowedViewsAreBounded: of more different views than may be followed the last one is shown
// as not live, in words, while the others of its stream are live. It is live, too, when another one
// is given up.
func TestFollowedViewsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	var all []*view
	for i := range maxFollowed - 1 {
		v, err := s.h.follow(fmt.Sprintf("/members?q=%d", i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	live := s.follow("view=/doctor&view=/events", "")
	if _, u := live.until(`"view":"/doctor"`); len(u.Swaps) != 1 || u.Trouble != "" {
		t.Errorf("%+v", u)
	}
	if _, u := live.until(`"view":"/events"`); !strings.Contains(u.Trouble, "256 different screens are open already") {
		t.Errorf("%+v", u)
	}
	if n := len(s.h.views); n > maxFollowed+1 {
		t.Errorf("%d views are remembered", n)
	}
	same, err := s.h.follow("/members?q=0")
	if err != nil {
		t.Errorf("one that is followed already: %v", err)
	}
	s.h.unfollow(same)
	for _, v := range all {
		s.h.unfollow(v)
	}
	if _, u := live.until(`"view":"/events"`); len(u.Swaps) != 1 || u.Trouble != "" {
		t.Errorf("%+v", u)
	}
	live.end()
	natstest.Eventually(t, "nothing is followed", patience, func() (bool, string) {
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		return s.h.followed == 0 && len(s.h.views) <= maxViews+1, fmt.Sprint(s.h.followed, len(s.h.views))
	})
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
