package election

import "context"

// binding stops the elections that were started with one context when that context ends. There is
// one binding for all of them, since a process may be a candidate for thousands of roles. The
// session's lock guards it.
type binding struct {
	ends      <-chan struct{}
	elections int
	release   func() bool
}

// bind stops e when ctx ends.
func (s *Session) bind(ctx context.Context, e *Election) {
	ends := ctx.Done()
	if ends == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bindings[ends]
	if b == nil {
		b = &binding{ends: ends}
		b.release = context.AfterFunc(ctx, func() { s.stopBound(b) })
		s.bindings[ends] = b
	}
	b.elections++
	e.binding = b
}

// unbind lets go of an election that has stopped.
func (s *Session) unbind(e *Election) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := e.binding
	if b == nil {
		return
	}
	e.binding = nil
	if b.elections--; b.elections == 0 {
		s.unlist(b)
		b.release()
	}
}

// stopBound is called when the context has ended. An election that binds to the context later gets
// a new binding, which ends at once.
func (s *Session) stopBound(b *binding) {
	s.mu.Lock()
	s.unlist(b)
	var bound []*Election
	for _, e := range s.elections {
		if e.binding == b {
			bound = append(bound, e)
		}
	}
	s.mu.Unlock()
	for _, e := range bound {
		e.stop(StopOptions{DeleteKey: true})
	}
}

func (s *Session) unlist(b *binding) {
	if s.bindings[b.ends] == b {
		delete(s.bindings, b.ends)
	}
}
