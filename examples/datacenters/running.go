package main

import (
	"context"
	"errors"
)

// running is a process of the story.
type running struct {
	stop  context.CancelFunc
	ended chan error // takes what run returns
}

// start starts a process at a site. It runs until end.
func (s *story) start(site, id string) {
	ctx, stop := context.WithCancel(context.Background())
	p := &process{site: site, id: id, zones: sites[:], url: s.lab.URL(site), journal: s.journal}
	r := &running{stop, make(chan error, 1)}
	s.processes[id] = r
	go func() { r.ended <- p.run(ctx) }() // received by end
}

// end ends a process gracefully, and waits for that.
func (s *story) end(id string) error {
	r := s.processes[id]
	delete(s.processes, id)
	r.stop()
	return <-r.ended
}

// endAll ends all of them at once.
func (s *story) endAll() (err error) {
	if s.observer != nil {
		s.observer.Close()
	}
	if s.conn != nil {
		s.conn.Close()
	}
	for _, r := range s.processes {
		r.stop()
	}
	for id := range s.processes {
		err = errors.Join(err, s.end(id))
	}
	return err
}
