package tasksim

import (
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// store is the stream of a namespace: one record per subject, and the conditions of a write.
type store struct {
	w    *world
	log  []stored
	last map[string]uint64 // sequence of the last record by subject
}

// stored is one record; sequence is its place, from 1.
type stored struct {
	subject string
	value   any // submission, tasks.Outcome, tasks.Retry, erased, seal
}

type (
	submission struct{ policy *tasks.Policy }
	erased     struct{}
	sealOf     struct {
		epoch uint64
		lead  *lead
	}
)

const sealSubject = "seal"

func (s *store) init(w *world) { s.w, s.last = w, map[string]uint64{} }

// write stores a record if its condition holds: the last sequence of on is expect.
func (s *store) write(subject string, value any, on string, expect uint64) (protocol.Outcome, uint64) {
	if s.last[on] != expect {
		s.w.Refused++
		return protocol.Refused, 0
	}
	if o, ok := value.(tasks.Outcome); ok {
		s.w.outcome(subject[2:], o, s.record(subject))
	}
	s.log = append(s.log, stored{subject, value})
	s.last[subject] = uint64(len(s.log))
	return protocol.Won, uint64(len(s.log))
}

// record is what stands at a subject, nil for nothing.
func (s *store) record(subject string) any {
	if n := s.last[subject]; n > 0 {
		return s.log[n-1].value
	}
	return nil
}
