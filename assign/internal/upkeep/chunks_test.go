package upkeep

import (
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestChunksThatNoTaskNeeds: a chunk is needed by the outcome that names its object, and by any
// open task that may have stored it, whatever the ids look like.
func TestChunksThatNoTaskNeeds(t *testing.T) {
	first, second := tasks.Attempt{Epoch: 7, N: 1}, tasks.Attempt{Epoch: 7, N: 2}
	for _, x := range []struct {
		name   string
		keys   []string
		note   func(t *testing.T, c *chunks)
		others []string
	}{
		{"no task", []string{"a.7.1.0", "a.7.1.1"}, func(*testing.T, *chunks) {}, []string{"a.7.1.0", "a.7.1.1"}},
		{
			"an open task",
			[]string{"a.7.1.0", "a.7.2.0", "a.7.2.2.0", "ab.7.1.0"},
			func(_ *testing.T, c *chunks) { c.open("a") },
			[]string{"ab.7.1.0"},
		},
		{"an attempt that did not count", []string{"a.7.1.0", "a.7.2.0", "a.7.2.1"}, func(t *testing.T, c *chunks) {
			if c.ended("a", second) {
				t.Error("its name is not in doubt")
			}
		}, []string{"a.7.1.0"}},
		{"two tries", []string{
			"a.7.1.0", "a.7.1.1", "a.7.1.2", "a.7.1.2.0", "a.7.1.2.1", "a.7.1.2.2",
		}, func(t *testing.T, c *chunks) {
			if !c.ended("a", first) {
				t.Error("which try it was must be looked up")
			}
			c.named("a.7.1.2")
		}, []string{"a.7.1.0", "a.7.1.1", "a.7.1.2"}},
		{"the first of two tries", []string{"a.7.1.0", "a.7.1.2", "a.7.1.2.0"}, func(_ *testing.T, c *chunks) {
			c.named("a.7.1")
		}, []string{"a.7.1.2.0"}},
		{"attempts with a common beginning", []string{"a.7.1.0", "a.7.10.0"}, func(_ *testing.T, c *chunks) {
			c.ended("a", first)
		}, []string{"a.7.10.0"}},
		{"ids with dots", []string{"a.7.1.0", "a.7.7.1.0"}, func(_ *testing.T, c *chunks) {
			c.ended("a.7", first)
		}, []string{"a.7.1.0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			slices.Sort(x.keys)
			c := newChunks(x.keys)
			x.note(t, c)
			if got := c.others(); !slices.Equal(got, x.others) {
				t.Errorf("%v, want %v", got, x.others)
			}
		})
	}
}

// TestOrphansWait: nothing is removed before no record has needed it for orphaned, nor twice; a
// chunk that was needed meanwhile waits from its next sight.
func TestOrphansWait(t *testing.T) {
	o, begin := orphans{}, time.Unix(1e9, 0)
	for _, x := range []struct {
		after     time.Duration
		keys, due []string
	}{
		{0, []string{"a", "b", "c"}, nil},
		{orphaned / 2, []string{"a", "c"}, nil},
		{orphaned, []string{"a", "b", "c"}, []string{"a", "c"}},
		{orphaned + time.Minute, []string{"a", "b", "c"}, []string{"c"}}, // c was not removed
		{3 * orphaned / 2, []string{"a", "b"}, nil},
		{2 * orphaned, []string{"b"}, []string{"b"}},
	} {
		if due := o.see(x.keys, begin.Add(x.after)); !slices.Equal(due, x.due) {
			t.Errorf("after %v: %v, want %v", x.after, due, x.due)
		}
		if x.after == orphaned {
			o.removed([]string{"a"})
		}
	}
}
