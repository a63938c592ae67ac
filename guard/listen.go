package guard

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/internal/deadlease"
	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// line brings the packets of one program.
type line interface {
	Read(packet []byte) (int, error) // one packet
	SetReadDeadline(time.Time) error
	Close() error
}

// listener hears what the program says about its leases.
type listener struct {
	cfg    Config
	line   line
	ctx    context.Context // ends with close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	heard  chan struct{} // closed when there is no more to hear

	mu    sync.Mutex // guards sites and their state
	sites map[guardlink.Place]*site
	lost  bool // a word was not taken, and that was said
}

// site is one bucket that the program has named.
type site struct {
	at     guardlink.Place
	book   ending.Book
	opened chan struct{} // closed when bucket or err is set
	bucket *deadlease.Bucket
	err    error
}

func listen(cfg Config, line line) *listener {
	l := &listener{cfg: cfg, line: line, heard: make(chan struct{}), sites: map[guardlink.Place]*site{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.wg.Go(l.read)
	return l
}

// read takes one packet after the other. That the line has ended proves nothing.
func (l *listener) read() {
	defer close(l.heard)
	packet := make([]byte, guardlink.MaxMessage+1)
	for {
		n, err := l.line.Read(packet)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
				l.cfg.Logger.Warn("guard: the program is not heard any more: the TTL decides", "err", err)
			}
			return
		}
		m, err := guardlink.Decode(packet[:n])
		if err == nil {
			err = l.hear(m)
		}
		if err != nil && !l.lost {
			l.lost = true
			l.cfg.Logger.Warn("guard: a word of the program was not taken: the TTL decides about that session", "err", err)
		}
	}
}

func (l *listener) hear(m guardlink.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sites[m.Place]
	if s == nil {
		if len(l.sites) >= ending.MostLeases && !l.forget() {
			return errTooMany
		}
		s = &site{at: m.Place, opened: make(chan struct{})}
		l.sites[m.Place] = s
		l.wg.Go(func() { l.open(s) })
	}
	return s.book.Hear(m.Word)
}

var errTooMany = errors.New("the program has sessions in too many buckets at once")

// forget lets go of a bucket in which the program has no session any more.
func (l *listener) forget() bool {
	for at, s := range l.sites {
		select {
		case <-s.opened:
		default:
			continue
		}
		if s.book.Empty() {
			delete(l.sites, at)
			if s.bucket != nil {
				s.bucket.Close()
			}
			return true
		}
	}
	return false
}

// open opens a bucket, again and again while what is wrong may pass.
func (l *listener) open(s *site) {
	defer close(s.opened)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		b, err := deadlease.Open(l.ctx, l.cfg.Conn, s.at)
		switch {
		case err == nil:
			s.bucket, s.err = b, nil
			return
		case l.ctx.Err() != nil:
			s.err = cmp.Or(s.err, err)
			return
		case s.err == nil:
			l.cfg.Logger.Warn("guard: the bucket cannot be opened, so the TTL decides; tried again",
				"bucket", s.at.Bucket, "err", err)
		}
		s.err = err
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// lastWords bounds the wait for what the program has said at the end, if something else keeps the
// line open.
const lastWords = 50 * time.Millisecond

// ended takes what is left to hear, and returns what is to be done at each bucket.
func (l *listener) ended() map[*site][]*ending.Ending {
	if err := l.line.SetReadDeadline(time.Now().Add(lastWords)); err != nil {
		l.line.Close() // it ends the reading too
	}
	<-l.heard
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[*site][]*ending.Ending{}
	for _, s := range l.sites {
		if list := s.book.Ended(); len(list) > 0 {
			all[s] = list
		}
	}
	return all
}

// end ends the sessions of the program, of which nothing runs any more since the time at.
func (l *listener) end(cfg Config, at time.Time) (killed, left []Session) {
	ctx, cancel := context.WithTimeout(l.ctx, cfg.WriteTimeout)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for s, list := range l.ended() {
		for _, e := range list {
			wg.Go(func() {
				x := session(s, e)
				x.Err = s.end(ctx, e)
				x.Took = time.Since(at)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case x.Err != nil:
					left = append(left, x)
				case e.Killed():
					killed = append(killed, x)
				} // else it had ended before
			})
		}
	}
	wg.Wait()
	sortSessions(killed)
	sortSessions(left)
	return killed, left
}

func (s *site) end(ctx context.Context, e *ending.Ending) error {
	select {
	case <-s.opened:
	case <-ctx.Done():
		return errors.Join(deadlease.ErrTTL, errors.New("the bucket was not opened in time"))
	}
	if s.bucket == nil {
		return errors.Join(deadlease.ErrTTL, s.err)
	}
	return s.bucket.End(ctx, e)
}

// leave lists the sessions of the program as left.
func (l *listener) leave(why error) (left []Session) {
	for s, list := range l.ended() {
		for _, e := range list {
			x := session(s, e)
			x.Err = why
			left = append(left, x)
		}
	}
	sortSessions(left)
	return left
}

func session(s *site, e *ending.Ending) Session {
	_, peer, _ := record.ParseKey(e.Key())
	return Session{Bucket: s.at.Bucket, Instance: peer.Instance}
}

func sortSessions(list []Session) {
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Instance, b.Instance))
	})
}

func (l *listener) close() {
	l.cancel()
	l.line.Close()
	l.wg.Wait()
	for _, s := range l.sites {
		if s.bucket != nil {
			s.bucket.Close()
		}
	}
}
