package upkeep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// put stores a record, and returns its revision.
func put(t *testing.T, cfg Config, key string, h []natskv.Field, data []byte) uint64 {
	t.Helper()
	m := nats.NewMsg(record.Stored(cfg.Stream.Name()) + key)
	m.Data = data
	for _, f := range h {
		m.Header.Set(f.Name, f.Value)
	}
	if _, err := cfg.Conn.RequestMsg(m, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	e, err := cfg.Stream.Get(t.Context(), cfg.Conn, key)
	if err != nil {
		t.Fatal(err)
	}
	return e.Revision
}

// bundle stores a bundle of so many members, the first of a block of ids.
func bundle(t *testing.T, cfg Config, block string, members int) (revision uint64) {
	t.Helper()
	list := make([]record.Member, members)
	for i := range list {
		list[i] = record.Member{Index: uint16(i), Task: `{"v":1,"kind":"k"}`, Data: []byte("input")}
	}
	h, data := record.EncodeBundle(list)
	return put(t, cfg, record.BundleKey+bundles.ID(block, 0), h, data)
}

// endMembers stores which members of a bundle have ended.
func endMembers(t *testing.T, cfg Config, block string, of uint64, places ...int) {
	t.Helper()
	set := bundles.NewSet(8)
	for _, place := range places {
		set.Add(place)
	}
	data, err := record.EncodeEnded(record.Ended{Of: of, Places: set})
	if err != nil {
		t.Fatal(err)
	}
	put(t, cfg, record.EndedKey+bundles.ID(block, 0), nil, data)
}

// TestMembersOfBundlesNeedTheirChunks as long as they are open, or not known to have ended.
func TestMembersOfBundlesNeedTheirChunks(t *testing.T) {
	cfg, _ := tasksStored(t, 3)
	a := bundle(t, cfg, "c.a", 3)
	endMembers(t, cfg, "c.a", a, 1)
	bundle(t, cfg, "c.young", 2)
	other := bundle(t, cfg, "c.other", 2)
	endMembers(t, cfg, "c.other", other+1000, 0)
	bundle(t, cfg, "c.whole", 2)
	put(t, cfg, record.BundleKey+"c.whole.0", nil, nil)
	put(t, cfg, record.EndedKey+"c.whole.0", nil, nil)
	put(t, cfg, record.BundleKey+"c.later.0", []natskv.Field{{Name: record.HeaderBundle, Value: `{"v":2}`}}, []byte("x"))
	h, output := record.EncodeOutcome("k", tasks.Outcome{
		Status: tasks.StatusSucceeded, Attempt: tasks.Attempt{Epoch: 7, N: 2}, Tries: 2,
	}, "", nil)
	put(t, cfg, record.QueueKey+"c.a.1", h, output)
	var keys []string
	for _, id := range []string{
		"c.a.0", "c.a.1", "c.a.2", "c.a.3", "c.young.0", "c.young.1", "c.other.0", "c.other.1", "c.whole.0", "c.whole.1",
		"c.later.0", "c.later.9", "c.none.0", "0",
	} {
		keys = append(keys, id+".7.1.0")
	}
	slices.Sort(keys)
	c := newChunks(keys)
	r := removal{Config: cfg, orphans: orphans{}}
	if _, err := r.compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{"c.a.1", "c.a.3", "c.none.0", "c.whole.0", "c.whole.1"}
	for i := range want {
		want[i] += ".7.1.0"
	}
	if got := c.others(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAMemberThatEndsMeanwhileIsMet: while the bundles are read, some of them end. Each of their
// members is met among the members, or among the outcomes, which are read after them.
func TestAMemberThatEndsMeanwhileIsMet(t *testing.T) {
	cfg, _ := tasksStored(t, 0)
	const count, members = 3 * bundlePage, 2
	missing := map[string]bool{}
	for i := range count {
		block := fmt.Sprint("c.", i)
		bundle(t, cfg, block, members)
		for n := range members {
			missing[bundles.ID(block, n)] = true
		}
	}
	ends := 0
	h, data := record.EncodeOutcome("k", tasks.Outcome{Status: tasks.StatusSucceeded, Tries: 1}, "", nil)
	if err := bundled(t.Context(), cfg, func(id string) {
		delete(missing, id)
		if ends == count {
			return
		}
		block := fmt.Sprint("c.", ends)
		for n := range members {
			put(t, cfg, record.QueueKey+bundles.ID(block, n), h, data)
		}
		put(t, cfg, record.BundleKey+bundles.ID(block, 0), nil, nil)
		ends++
	}); err != nil {
		t.Fatal(err)
	}
	if len(missing) == 0 {
		t.Error("no bundle has ended before it was read")
	}
	if err := headers(t.Context(), cfg, func(e *natskv.Entry) error {
		delete(missing, strings.TrimPrefix(e.Key, record.QueueKey))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(missing) > 0 {
		t.Errorf("never met: %v", slices.Sorted(maps.Keys(missing)))
	}
}
