package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
)

// declaredKinds is what a program says about its kinds, which the scheduler stores: a worker needs
// no permission for the stream. Each is told to the scheduler in view until it has answered, also
// to later ones, and to one of an earlier version, which never answers, ever more seldom.
type declaredKinds struct {
	list  []*declaring
	known map[string]bool // kinds
}

type declaring struct {
	kind    string
	text    json.RawMessage
	settled bool
	next    time.Time
	tries   int
}

// declarationAnswered is an answer to one of them.
type declarationAnswered struct {
	index  int
	answer control.Answer
}

const (
	declareAgain  = time.Second
	declareSeldom = 10 * time.Minute
	declareMark   = "-" // tells their answers from those to reports
)

// take takes over what the program says of late.
func (d *declaredKinds) take(all map[string]*record.Declaration, by string) {
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		if d.known[kind] {
			continue
		}
		if d.known == nil {
			d.known = map[string]bool{}
		}
		d.known[kind] = true
		own := *all[kind]
		own.By = by
		// it was checked with the kind
		if text, err := (&record.KindLimits{Version: 1, Declared: &own}).Encode(); err == nil {
			d.list = append(d.list, &declaring{kind: kind, text: text})
		}
	}
}

// again tells a new scheduler at once.
func (d *declaredKinds) again() {
	for _, x := range d.list {
		x.next, x.tries = time.Time{}, 0
	}
}

// next is how long it takes until something is to be told.
func (d *declaredKinds) next(now time.Time) time.Duration {
	next := time.Hour
	for _, x := range d.list {
		if !x.settled {
			next = min(next, max(x.next.Sub(now), 0))
		}
	}
	return next
}

// declare tells the scheduler in view what is due.
func (s *worker) declare(now time.Time) {
	if s.verifier.epoch == 0 || !s.offered || s.closing {
		return
	}
	for i, x := range s.declarations.list {
		if x.settled || now.Before(x.next) {
			continue
		}
		x.next = now.Add(min(declareAgain<<min(x.tries, 16), declareSeldom))
		x.tries++
		data, err := json.Marshal(control.Query{
			Op: control.OpDeclare, ID: x.kind, Record: x.text,
			From: &control.Sender{Instance: s.h.Instance(), Session: s.h.Session(), Epoch: s.verifier.epoch},
		})
		if err == nil {
			s.report(s.outbox.inbox+declareMark+strconv.Itoa(i), data)
		}
	}
}

// answerOf reads an answer to a declaration. ok is false for another message, and for the server's
// notice that nobody listens.
func (o *outbox) answerOf(m *nats.Msg) (a declarationAnswered, ok bool) {
	number, is := strings.CutPrefix(m.Subject, o.inbox+declareMark)
	if !is {
		return a, false
	}
	var err error
	if a.index, err = strconv.Atoi(number); err != nil {
		return a, false
	}
	a.answer, err = control.ReadAnswer(m.Data)
	return a, err == nil
}

// declared notes that a declaration is settled: it is stored, or another one stays. Then the
// program is told why.
func (s *worker) declared(a declarationAnswered) {
	if a.index < 0 || a.index >= len(s.declarations.list) || s.declarations.list[a.index].settled {
		return
	}
	x := s.declarations.list[a.index]
	x.settled = true
	if a.answer.OK {
		return
	}
	err := errors.New("assign: " + a.answer.Error)
	if a.answer.Differs {
		both := strings.TrimPrefix(a.answer.Error, taskerr.ErrLimitsDiffer.Error()+": ")
		err = fmt.Errorf("%w: %s", taskerr.ErrLimitsDiffer, both)
	}
	s.h.Emit(event.Fault{Meta: s.meta(), Doing: "declare the limits of " + x.kind, Err: err, Attempts: 1})
}
