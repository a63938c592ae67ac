package upkeep

import (
	"context"
	"math"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	headerPage = 1000
	// fewestPages are read in one go. That many take longer than to begin, for all but the largest
	// streams.
	fewestPages = 16
	// goFactor is how many times as long a go lasts as it took to begin it, at least. To begin takes
	// the longer the larger the stream is.
	goFactor = 4
	// restFactor is how many times as long a rest lasts as the reading before it, so that little of
	// the time is spent reading.
	restFactor = 100
	// firstRestFactor is the restFactor of a term's first count, which people wait for.
	firstRestFactor = 4
)

// sweep reads the records of one family, in the order of their revisions.
type sweep struct {
	Config
	filter      string        // the keys of the family
	data        bool          // read it, too
	page, pages int           // records of a page, and pages of a go, at least
	goFactor    int           // see there
	restFactor  int           // see there; 0: the goes follow each other
	rest        time.Duration // after the last go
	until       uint64        // the last revision to read
}

// newSweep is a sweep of the headers of a family, in one go and without an end. A record that is
// replaced meanwhile comes again.
func newSweep(cfg Config, family string) sweep {
	return sweep{Config: cfg, filter: family + ">", page: headerPage, pages: math.MaxInt, until: math.MaxUint64}
}

// headers gives each the headers of all tasks.
func headers(ctx context.Context, cfg Config, each func(*natskv.Entry) error) error {
	s := newSweep(cfg, record.QueueKey)
	return s.run(ctx, each)
}

// present gives each the headers of the tasks that are stored now, as far as nothing replaces them
// meanwhile. After each go it rests factor times as long: others need the server more. It returns
// how long to rest after the last one.
func present(ctx context.Context, cfg Config, factor int, each func(*natskv.Entry) error) (
	rest time.Duration, err error,
) {
	last, err := cfg.Stream.Last(ctx, cfg.Conn)
	if err != nil {
		return 0, err
	}
	s := newSweep(cfg, record.QueueKey)
	s.pages, s.goFactor, s.restFactor, s.until = fewestPages, goFactor, factor, last
	err = s.run(ctx, each)
	return s.rest, err
}

func (s *sweep) run(ctx context.Context, each func(*natskv.Entry) error) error {
	for from := uint64(1); from > 0; {
		began := time.Now()
		next, err := s.read(ctx, from, each)
		s.rest = time.Duration(s.restFactor) * time.Since(began)
		if err != nil {
			return err
		}
		if from = next; from == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(s.rest):
		}
	}
	return nil
}

// read reads in one go from a revision on. It returns where to continue, 0 for nowhere. A go that
// is lost on its way is continued as well: what each does may take longer than a server remembers.
func (s *sweep) read(ctx context.Context, from uint64, each func(*natskv.Entry) error) (next uint64, err error) {
	since := time.Now()
	r, err := s.Stream.Read(ctx, s.Conn, natskv.Scan{Filter: s.filter, From: from, HeadersOnly: !s.data})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	begun := time.Now()
	for n := 0; n < s.pages || time.Since(begun) < time.Duration(s.goFactor)*begun.Sub(since); n++ {
		entries, err := r.Next(ctx, s.page, 0)
		if err != nil && n > 0 {
			return from, nil
		}
		if err != nil || len(entries) == 0 {
			return 0, err
		}
		for i := range entries {
			if entries[i].Revision > s.until {
				return 0, nil
			}
			if err := each(&entries[i]); err != nil {
				return 0, err
			}
			from = entries[i].Revision + 1
		}
	}
	return from, nil
}
