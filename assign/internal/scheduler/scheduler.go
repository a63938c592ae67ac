package scheduler

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/feeds"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/timings"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// scheduler is the loop of one term: a goroutine that owns the rules, gives them every event, and
// has the parts carry out the effects. Each part owns its state. It knows the parts below it, and
// of the loop only put, step and emit; the parts that may end the term know fail, too.
type scheduler struct {
	*term
	out    sender
	writer *natskv.Writer
	in     *mailbox.Mailbox[any] // bounded by writes in flight, frames without an answer, and reports under way

	payloads   *payloads
	bundles    *bundleReads
	announcer  *announcer
	writes     *writeQueue
	drafts     *drafts
	keeper     *keeper
	applier    *applier
	reader     *reader
	dispatcher *dispatcher
	answers    *answers
	reports    *reports
	feeds      *feeds.Feeds
	queries    *queries
	declared   *declarations
	members    *members
	gauges     *gauges
	awaited    *awaited
	notices    *notices
	denials    *denials
	effects    *effects

	tick     tasks.Tick     // one event that is used again
	returned []tasks.Effect // of the last step; its room is used again
	failure  error          // what ends the term

	subs   []*nats.Subscription
	cancel context.CancelFunc
	leave  func()         // the worker of our session does not find us any more
	wg     sync.WaitGroup // goroutines that end at once, or may hang in the connection
}

const explainWithin = time.Second

func newTerm(cfg Config, t *election.Term, h Host, stream *natskv.Stream) *term {
	return &term{
		cfg: cfg, host: h, lead: t, conn: h.Conn(), stream: stream,
		work: record.WorkOf(cfg.Namespace, h.BucketID()), talk: record.TalkOf(cfg.Namespace, stream.Identity().ID),
		began: time.Now(), first: t.Epoch(), epoch: t.Epoch(), mark: uuid.NewString(),
		proofs: newProver(h), inbox: h.Conn().NewInbox() + ".",
		rules: tasks.NewScheduler(tasks.SchedulerConfig{
			Epoch: t.Epoch(), CrashBudget: cfg.CrashBudget, AnswerTime: cfg.AnswerTimeout, WriteTime: explainWithin,
			LossTime:  3 * h.Config().TTL / 2,
			Silence:   2 * h.Config().HeartbeatInterval,
			Rand:      rand.Float64,
			AgingStep: cfg.AgingStep, Placement: cfg.Placement,
		}),
	}
}

func newScheduler(t *term) *scheduler {
	return &scheduler{term: t, in: mailbox.New[any](), cancel: func() {}, leave: func() {}}
}

// assemble makes the parts, each one after the parts that it knows.
func (s *scheduler) assemble(out sender, writer *natskv.Writer) {
	l := loop{put: s.put, step: s.step, emit: s.emit}
	t, known := s.term, peers{}
	s.out, s.writer = out, writer

	s.payloads = newPayloads()
	s.bundles = newBundleReads(s.payloads)
	s.announcer = newAnnouncer(out, t.talk.Done, out.MaxPayload())
	times := timings.New()
	s.gauges = &gauges{term: t, emit: l.emit, timings: times}
	s.awaited = &awaited{term: t, emit: l.emit, reported: t.began}
	s.notices = &notices{term: t, emit: l.emit, timings: times}
	s.denials = &denials{term: t, emit: l.emit, fail: s.fail}

	shortage := &shortage{term: t, emit: l.emit}
	s.writes = newWriteQueue(t, l, s.fail, writer, s.announcer, shortage)
	s.drafts = newDrafts(t, out, s.payloads, s.bundles, s.writes)
	s.keeper = newKeeper(t, l, s.fail, writer, s.payloads)
	s.declared = newDeclarations(t, l, out, known, writer)
	s.applier = newApplier(t, l, s.fence, out, s.payloads, s.drafts, s.announcer, s.declared)
	s.reader = newReader(t, l, s.applier, s.announcer)

	s.dispatcher = newDispatcher(t, l.put, out, s.payloads, s.bundles)
	s.answers = newAnswers(t, l, out, known)
	s.reports = newReports(t, l, out, known, s.writes, s.gauges)
	s.feeds = feeds.New(func(name string, news []byte) { out.Send(t.talk.Feed(name), "", news) }, out.MaxPayload)
	s.queries = &queries{term: t, loop: l, out: out, shortage: shortage, feeds: s.feeds, detail: s.gauges.detail}
	s.members = newMembers(t, l, known, s.dispatcher, s.answers)
	s.effects = &effects{
		term: t, fence: s.fence, writes: s.writes, drafts: s.drafts, dispatcher: s.dispatcher, members: s.members,
		reports: s.reports, queries: s.queries, gauges: s.gauges, reader: s.reader, notices: s.notices,
		keeper: s.keeper,
	}
}

// run is the loop. It gives the rules all the events that have come, and then lets the rules hand
// out tasks.
func (s *scheduler) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var batch []any
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.in.Ready():
		case u, ok := <-s.reader.updates:
			s.reader.update(u, ok)
		case w := <-s.reader.watches:
			s.reader.follow(w)
		case err := <-s.reader.failed:
			return err
		case narrow := <-s.members.widened:
			s.members.begin(narrow)
		case <-s.members.changed:
			s.members.apply()
		case <-timer.C:
		}
		s.notices.turn()
		batch = s.in.Drain(batch)
		for _, m := range batch {
			s.handle(m)
		}
		if epoch := s.lead.Epoch(); epoch > s.epoch {
			s.epoch = epoch
			s.step(tasks.Rotated{Epoch: epoch})
		}
		if s.lead.Valid() {
			s.tick.Wall = time.Now().Round(0) // the wall clock, which advances while the machine sleeps
			s.step(&s.tick)
		}
		retry := s.writes.retryDue(time.Now())
		s.writes.flush()
		s.announcer.flush()
		s.feeds.Flush()
		if s.failure != nil {
			return s.failure
		}
		s.gauges.publish()
		s.awaited.publish()
		timer.Reset(max(min(s.rules.Next(s.now()), s.drafts.retryDue(time.Now()), s.keeper.retryDue(time.Now()), retry,
			s.writes.due(), gaugesEvery), time.Millisecond))
	}
}

// handle gives a message to its part.
func (s *scheduler) handle(m any) {
	switch m := m.(type) {
	case arrivedAnswer:
		s.answers.handle(m.m)
	case arrivedReport:
		s.reports.read(m.m)
		if control.IsQuery(m.m.Data) {
			s.declared.handle(m.m)
		} else {
			s.reports.handle(m.m)
		}
	case declared:
		s.declared.written(m)
	case arrivedQuery:
		s.queries.handle(m.m)
	case singleDone:
		s.writes.singleDone(m)
	case tasks.Reconnected:
		s.step(m)
		s.announcer.reconnected()
	case tasks.Event:
		s.step(m)
	case batchDone:
		s.writes.batchDone(m)
	case singleUnknown:
		s.writes.singleUnknown(m)
	case fetched:
		switch {
		case m.keep > 0:
			s.keeper.fetched(m)
		case m.task != "":
			s.drafts.fetched(m)
		default:
			found, asked := s.bundles.fetched(&m)
			s.dispatcher.fetched(m, found)
			if asked {
				s.drafts.bundleRead(&m, found)
			}
		}
	case readAlong:
		s.dispatcher.readAlong(m)
	case rewritten:
		s.keeper.written(m)
	case *natskv.PermissionError:
		s.denials.handle(m)
	}
}

func (s *scheduler) put(message any) { s.in.Put(message) }

func (s *scheduler) step(ev tasks.Event) {
	s.returned = s.rules.Step(s.now(), ev, s.returned[:0])
	for i, e := range s.returned {
		s.effects.execute(e)
		s.returned[i] = nil
	}
}

func (s *scheduler) emit(e event.Event) { s.host.Emit(e) }

// fail ends the term. The first reason counts.
func (s *scheduler) fail(err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// fence ends the term for a reason that counts more than any failure.
func (s *scheduler) fence(err error) { s.failure = err }
