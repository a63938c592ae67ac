package feeds

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/naming"
)

// Feeds are the clients that follow all tasks, each on a subject of its own. The news of one turn
// of a scheduler go together. It is not safe for concurrent use.
type Feeds struct {
	send func(name string, news []byte)
	most func() int // bytes of a message
	open map[string]*follower
}

// follower is one client. It asks again now and then, and else it is forgotten.
type follower struct {
	filter control.Filter
	until  time.Time
	sent   uint64 // messages
	news   []control.Task
	size   int // of the news, about, in bytes
}

const (
	maxFollowers = 16
	maxName      = 64 // letters
	// statusSize is about what a status takes beside its texts, in bytes.
	statusSize = 256
)

// New makes feeds that no client has asked for yet.
func New(send func(name string, news []byte), most func() int) *Feeds {
	return &Feeds{send: send, most: most, open: map[string]*follower{}}
}

// Begin begins a feed, or continues it. The answer counts the messages that were sent before. So
// the client notices when it has missed some, or when this scheduler has just begun.
func (f *Feeds) Begin(q control.Query, now time.Time) control.Answer {
	if !naming.Valid(q.ID) || len(q.ID) > maxName || strings.Contains(q.ID, ".") {
		return control.Answer{Error: "a feed needs a name of its own"}
	}
	for name, o := range f.open {
		if o.until.Before(now) {
			delete(f.open, name)
		}
	}
	o := f.open[q.ID]
	if o == nil {
		if len(f.open) >= maxFollowers {
			return control.Answer{Error: "too many clients follow all tasks"}
		}
		o = &follower{sent: uint64(now.UnixMicro())} // that of another scheduler differs
		f.open[q.ID] = o
	}
	if o.until = now.Add(control.WatchFor); q.Filter != nil {
		o.filter = *q.Filter
	}
	return control.Answer{OK: true, Cursor: o.sent}
}

// Wanted reports whether any client may want the status of a task.
func (f *Feeds) Wanted() bool { return len(f.open) > 0 }

// Tell adds the status of a task to the feeds that want it.
func (f *Feeds) Tell(s *control.Task, now time.Time) {
	for name, o := range f.open {
		if !strings.HasPrefix(s.ID, o.filter.Prefix) || o.until.Before(now) ||
			len(o.filter.Kinds) > 0 && !slices.Contains(o.filter.Kinds, s.Kind) {
			continue
		}
		size := statusSize + len(s.ID) + len(s.Kind) + len(s.Worker) + 6*len(s.Error) // JSON writes some bytes as six
		if k := s.Keys; k != nil {
			size += 6 * (len(k.Unique) + len(k.Sticky) + len(k.Limit) + len(k.Fair))
		}
		if o.size+size > min(control.MaxPageBytes, f.most()/2) || len(o.news) == control.MaxPage {
			f.flush(name, o)
		}
		o.news, o.size = append(o.news, *s), o.size+size
	}
}

// Flush sends what has happened in this turn.
func (f *Feeds) Flush() {
	for name, o := range f.open {
		f.flush(name, o)
	}
}

func (f *Feeds) flush(name string, o *follower) {
	if len(o.news) == 0 {
		return
	}
	o.sent++
	if data, err := json.Marshal(control.Answer{OK: true, Cursor: o.sent, Tasks: o.news}); err == nil {
		f.send(name, data)
	}
	clear(o.news)
	o.news, o.size = o.news[:0], 0
}
