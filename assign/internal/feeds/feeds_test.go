package feeds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// sent are the messages of feeds, by name.
type sent map[string][]control.Answer

func newFeeds(t *testing.T, most int) (*Feeds, sent) {
	all := sent{}
	return New(func(name string, news []byte) {
		if len(news) > most {
			t.Errorf("a message of %d bytes, of at most %d", len(news), most)
		}
		var a control.Answer
		if err := json.Unmarshal(news, &a); err != nil {
			t.Error(err)
		}
		all[name] = append(all[name], a)
	}, func() int { return most }), all
}

// TestFeedsAreCounted: a client notices that it has missed a message, or that another scheduler
// tells the news.
func TestFeedsAreCounted(t *testing.T) {
	now := time.Now()
	f, all := newFeeds(t, 1<<20)
	begun := f.Begin(control.Query{ID: "a", Filter: &control.Filter{Kinds: []string{"mail"}, Prefix: "x"}}, now)
	for _, s := range []control.Task{
		{ID: "x1", Kind: "mail"}, {ID: "x2", Kind: "other"}, {ID: "y", Kind: "mail"}, {ID: "x3", Kind: "mail"},
	} {
		f.Tell(&s, now)
	}
	f.Flush()
	f.Flush()
	if got := all["a"]; !begun.OK || len(got) != 1 || got[0].Cursor != begun.Cursor+1 || len(got[0].Tasks) != 2 {
		t.Fatalf("after %+v: %+v", begun, got)
	}
	again := f.Begin(control.Query{ID: "a"}, now.Add(control.WatchFor))
	if again.Cursor != begun.Cursor+1 {
		t.Errorf("continued: %+v", again)
	}
	f.Tell(&control.Task{ID: "y", Kind: "mail"}, now) // the filter stays
	f.Tell(&control.Task{ID: "x", Kind: "mail"}, now.Add(3*control.WatchFor))
	f.Flush()
	if len(all["a"]) != 1 {
		t.Errorf("after it was forgotten: %+v", all["a"])
	}
	other, _ := newFeeds(t, 1<<20)
	if next := other.Begin(control.Query{ID: "a"}, now.Add(time.Second)); next.Cursor == again.Cursor {
		t.Errorf("of another scheduler: %+v", next)
	}
}

// TestFeedsAreBounded: by number, and each message by the size that the server takes.
func TestFeedsAreBounded(t *testing.T) {
	now := time.Now()
	const most = 16 << 10
	f, all := newFeeds(t, most)
	for i := range maxFollowers + 1 {
		if a := f.Begin(control.Query{ID: fmt.Sprint("f", i)}, now); a.OK != (i < maxFollowers) || a.OK == (a.Error != "") {
			t.Errorf("number %d: %+v", i, a)
		}
	}
	for _, name := range []string{"", "a.b", "*", ">", strings.Repeat("a", maxName+1)} {
		if a := f.Begin(control.Query{ID: name}, now.Add(time.Hour)); a.OK {
			t.Errorf("%q is a name", name)
		}
	}
	if a := f.Begin(control.Query{ID: "late"}, now.Add(time.Hour)); !a.OK {
		t.Errorf("when the others are forgotten: %+v", a)
	}
	for i := range 1000 {
		f.Tell(&control.Task{
			ID: fmt.Sprint("t", i), State: tasks.StateDead, Error: strings.Repeat("\x01", 1<<10),
			Keys: &control.Keys{Sticky: strings.Repeat("\x01", 256)},
		}, now.Add(time.Hour))
	}
	f.Flush()
	n := 0
	for _, a := range all["late"] {
		n += len(a.Tasks)
	}
	if n != 1000 {
		t.Errorf("%d of 1000 tasks are told", n)
	}
}
