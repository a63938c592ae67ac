package upkeep

import (
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// chunks are the keys in an object store, and which of them the records of tasks need. A key is
// <task>.<epoch>.<attempt>.<chunk>, or <task>.<epoch>.<attempt>.<try>.<chunk>.
//
// The keys are listed before the records are read. So each key is of a task that was there before,
// and a record that changes meanwhile is read where it is then. A chunk that no record needs will
// not be needed: an object counts only by the outcome of its attempt, and another outcome of the
// task, or none, is final.
type chunks struct {
	keys   []string // sorted
	needed []bool
}

func newChunks(keys []string) *chunks { return &chunks{keys, make([]bool, len(keys))} }

// open notes a task that has not ended. One of its attempts may be about to report any of its
// objects. The objects of a task whose id only begins like that one's stay, too, as long as it is
// open.
func (c *chunks) open(id string) {
	from, to := c.within(id + ".")
	for i := from; i < to; i++ {
		c.needed[i] = true
	}
}

// ended notes a task whose output is an object of one attempt. It reports whether the name of the
// object must be looked up, because the attempt has stored several.
func (c *chunks) ended(id string, a tasks.Attempt) (several bool) {
	prefix := id + "." + a.String() + "."
	from, to := c.within(prefix)
	for i := from; i < to && !several; i++ {
		several = !isNumber(c.keys[i][len(prefix):])
	}
	for i := from; i < to && !several; i++ {
		c.needed[i] = true
	}
	return several
}

// named notes an object that an outcome names.
func (c *chunks) named(object string) {
	prefix := object + "."
	from, to := c.within(prefix)
	for i := from; i < to; i++ {
		c.needed[i] = c.needed[i] || isNumber(c.keys[i][len(prefix):])
	}
}

// within returns the range of the keys with a prefix.
func (c *chunks) within(prefix string) (from, to int) {
	from, _ = slices.BinarySearch(c.keys, prefix)
	for to = from; to < len(c.keys) && strings.HasPrefix(c.keys[to], prefix); to++ {
	}
	return from, to
}

// others are the keys that nothing needs.
func (c *chunks) others() (keys []string) {
	for i, key := range c.keys {
		if !c.needed[i] {
			keys = append(keys, key)
		}
	}
	return keys
}

// isNumber reports whether a text is the number of a chunk.
func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// orphans are the chunks that nothing has needed for a while. A server that lags may not know yet
// which task a chunk belongs to, so none is removed at the first sight.
type orphans map[string]orphan

type orphan struct {
	since   time.Time
	removed bool
}

// orphaned is how long no record needs a chunk until it is removed.
const orphaned = time.Hour

// see takes what one look has found to be needed by nothing. It returns, in their order, the chunks
// that are due.
func (o orphans) see(keys []string, now time.Time) (due []string) {
	present := make(map[string]bool, len(keys))
	for _, key := range keys {
		present[key] = true
		x, known := o[key]
		switch {
		case !known:
			o[key] = orphan{since: now}
		case !x.removed && now.Sub(x.since) >= orphaned:
			due = append(due, key)
		}
	}
	for key := range o {
		if !present[key] {
			delete(o, key)
		}
	}
	return due
}

// removed notes chunks that are gone. A store of an earlier version keeps their keys for long.
func (o orphans) removed(keys []string) {
	for _, key := range keys {
		o[key] = orphan{o[key].since, true}
	}
}
