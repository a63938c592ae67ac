package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Run hands out the namespace's tasks for one term. It returns nil when ctx has ended.
func Run(ctx context.Context, t *election.Term, h Host, cfg Config) error {
	stream, err := awaitStream(ctx, h, cfg.Stream)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	l := newScheduling(cfg, t, h, stream)
	if err := l.begin(ctx); err != nil {
		l.end()
		return unlessEnded(ctx, err)
	}
	if err = l.run(ctx); err == nil {
		l.retire()
		l.announceLast()
	}
	l.end()
	return unlessEnded(ctx, err)
}

// unlessEnded drops an error that came of the end of ctx, and makes a denial one that errors.Is finds.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, nats.ErrPermissionViolation) && !errors.Is(err, election.ErrPermission) {
		return taskerr.Permission(err)
	}
	return err
}

// awaitStream opens the stream. It tries again while the fault may pass.
func awaitStream(ctx context.Context, h Host, cfg stream.Options) (*natskv.Stream, error) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	return backoff.Retry(ctx, func() (*natskv.Stream, error) {
		s, err := stream.Open(ctx, h.Conn(), cfg)
		if err != nil && (natskv.Permanent(err) || errors.Is(err, taskerr.ErrStreamNotFound)) {
			err = backoff.Permanent(err)
		}
		return s, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(0))
}

// scheduler is one term: a goroutine that owns the books, hears of everything, and carries out what they want.
//
//	stream ─────► books ──► frames to workers
//	members ────►       ──► guarded writes ──► acknowledgements ──► books
//	reports ────►       ──► answers to reports, after the commit
type scheduler struct {
	cfg       Config
	sub       record.Subjects
	t         *election.Term
	h         Host
	nc        *nats.Conn
	stream    *natskv.Stream
	writer    *natskv.Writer
	out       sender
	announcer *announcer
	in        *mailbox.Mailbox[any] // bounded by writes in flight, frames without an answer, and reports under way
	subs      []*nats.Subscription
	inbox     string // of answers to frames; session and frame follow
	mark      string // of our seals

	books    *tasks.Scheduler
	news     news
	effects  []tasks.Effect
	epoch    uint64
	first    uint64 // epoch of the term
	began    time.Time
	peers    map[uint64]peer // by session
	policies policies
	payloads *payloads
	loading  map[uint64]*loading          // frames that wait for payloads, by session
	partial  map[uint64]*control.Assembly // answers of which parts are missing, by session
	dying    dying
	commits  commits
	reading  reading
	carried  chan func() // the watch has carried every member; call it to give the width back
	narrow   func()
	fenced   error              // what ends the term
	largest  int                // checkpoint that may be stored, in bytes
	sealed   uint64             // revision of the last seal of ours that the stream has shown
	queries  atomic.Int32       // that wait
	progress event.TaskProgress // since it was told
	told     time.Time
	unread   atomic.Int64 // bytes of reports that wait for the loop
	early    int          // bytes of reports that have come before the books were complete
	late     late
	meta     event.Meta // of the events of one turn of the loop

	cancel context.CancelFunc
	wg     sync.WaitGroup // what may hang in the connection, and what ends at once
}

// news are the events that come thousands of times a second: there is one of each, so that telling it costs no memory.
type news struct {
	tick      tasks.Tick
	submitted tasks.Submitted
	settled   tasks.Settled
	done      tasks.Done
	written   tasks.Written
}

// peer is how a session on the books is found in the bucket.
type peer struct {
	instance   string
	workerOnly bool
}

const (
	writeWithin   = 5 * time.Second
	explainWithin = time.Second
)

func newScheduling(cfg Config, t *election.Term, h Host, stream *natskv.Stream) *scheduler {
	l := &scheduler{
		cfg: cfg, sub: record.SubjectsOf(cfg.Namespace), t: t, h: h, nc: h.Conn(), stream: stream, in: mailbox.New[any](), inbox: h.Conn().NewInbox() + ".",
		mark: uuid.NewString(), epoch: t.Epoch(), began: time.Now(), peers: map[uint64]peer{},
		policies: newPolicies(), loading: map[uint64]*loading{}, dying: dying{},
		partial: map[uint64]*control.Assembly{},
		reading: newReading(), carried: make(chan func(), 1), cancel: func() {}, largest: record.MaxCheckpoint,
	}
	l.first, l.late.told = l.epoch, l.began
	l.books = tasks.NewScheduler(tasks.SchedulerConfig{
		Epoch: l.epoch, CrashBudget: cfg.CrashBudget, AnswerTime: cfg.AnswerTimeout, WriteTime: explainWithin, Rand: rand.Float64,
		AgingStep: cfg.AgingStep, Placement: cfg.Placement,
	})
	return l
}

// begin starts everything that the loop hears of.
func (l *scheduler) begin(ctx context.Context) (err error) {
	ctx, l.cancel = context.WithCancel(ctx)
	l.out = natsconn.NewSender(l.nc, &l.wg)
	l.announcer = newAnnouncer(l.out, l.sub.Done, l.out.MaxPayload())
	if l.writer, err = natskv.NewWriter(l.nc, l.stream); err != nil {
		return fmt.Errorf("assign: %w", err)
	}
	l.payloads = newPayloads(ctx, l.nc, l.stream, &l.wg, func(f fetched) { l.in.Put(f) })
	l.commits = commits{l: l, batched: l.stream.Replicas() > 1, most: natskv.MaxBatch}
	l.subs, err = natsconn.Subscribe(l.nc, map[string]nats.MsgHandler{
		l.inbox + ">":     func(m *nats.Msg) { l.in.Put(answered{m}) },
		l.sub.Report(">"): l.reportArrives,
		l.sub.Ctl():       l.asked,
	})
	if err != nil {
		return fmt.Errorf("assign: %w", err)
	}
	l.wg.Go(func() { natsconn.WatchDenials(ctx, l.nc, func(d *natskv.PermissionError) { l.in.Put(d) }) })
	l.wg.Go(func() { l.read(ctx) })
	l.wg.Go(func() { l.watchConnection(ctx) })
	l.wg.Go(func() { l.widen(ctx, l.first) })
	return nil
}

// end stops everything.
func (l *scheduler) end() {
	l.cancel()
	l.out.Stop()
	if l.writer != nil {
		l.writer.Stop()
	}
	natsconn.Within(l.h.Config().OpTimeout, func() {
		for _, s := range l.subs {
			_ = s.Unsubscribe() // fails only when the connection is closed
		}
		if l.writer != nil {
			l.writer.Close()
		}
		l.wg.Wait()
		select {
		case narrow := <-l.carried:
			narrow()
		default:
		}
		if l.narrow != nil {
			l.narrow()
		}
	})
	l.emit(event.TaskGauges{Meta: l.h.Meta(), Namespace: l.cfg.Namespace})
}

func (l *scheduler) now() tasks.Instant { return protocol.Instant(time.Since(l.began)) + 1 }

// run is the loop. What comes at once is told to the books at once, and then they hand out.
func (l *scheduler) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var batch []any
	var changed <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.in.Ready():
		case u, ok := <-l.reading.updates:
			l.turn(u, ok)
		case w := <-l.reading.watches:
			l.reading.watch, l.reading.updates = w, w.C()
		case err := <-l.reading.failed:
			return err
		case l.narrow = <-l.carried:
			changed = l.h.Changed()
			l.members()
		case <-changed:
			l.members()
		case <-timer.C:
		}
		l.meta = event.Meta{}
		batch = l.in.Drain(batch)
		for _, m := range batch {
			l.take(m)
		}
		if epoch := l.t.Epoch(); epoch > l.epoch {
			l.epoch = epoch
			l.step(tasks.Rotated{Epoch: epoch})
		}
		if l.t.Valid() {
			l.news.tick.Wall = time.Now().Round(0) // the wall clock, which goes on while the machine sleeps
			l.step(&l.news.tick)
		}
		starved := l.commits.tend(time.Now())
		l.commits.flush()
		l.announcer.flush()
		if l.fenced != nil {
			return l.fenced
		}
		l.gauges()
		l.tellLate()
		timer.Reset(max(min(l.books.Next(l.now()), l.readAgain(time.Now()), starved, gaugesEvery), time.Millisecond))
	}
}

// take handles what others have sent.
func (l *scheduler) take(m any) {
	switch m := m.(type) {
	case answered:
		l.answer(m.m)
	case reported:
		l.unread.Add(-int64(len(m.m.Data)))
		l.report(m.m)
	case queried:
		l.query(m.m)
	case written:
		l.commits.over(m.w, outcomes[m.result.Outcome], m.result.Revision)
	case tasks.Reconnected:
		l.step(m)
		l.announcer.reconnected()
	case tasks.Event:
		l.step(m)
	case batchDone:
		l.commits.done(m)
	case unstored:
		l.commits.fault([]commit{m.w}, m.err)
	case fetched:
		l.fetched(m)
	case *natskv.PermissionError:
		l.denied(m)
	}
}

func (l *scheduler) step(ev tasks.Event) {
	l.effects = l.books.Step(l.now(), ev, l.effects[:0])
	for i, e := range l.effects {
		l.carryOut(e)
		l.effects[i] = nil
	}
}

// members tells the books who is there, and which of those that they know is dead for certain.
func (l *scheduler) members() {
	own := l.h.Session()
	all := l.h.Members()
	list := make([]tasks.Member, 0, len(all))
	present := make(map[uint64]bool, len(all))
	for i := range all {
		m := &all[i]
		place, works := m.Assign[l.cfg.Namespace]
		if m.Session == own && !l.cfg.SchedulerWorks {
			place.Slots = 0
		}
		present[m.Session] = true
		l.peers[m.Session] = peer{m.Instance, m.WorkerOnly}
		list = append(list, tasks.Member{
			Instance: m.Instance, Session: m.Session, Described: m.Described, Works: works, Draining: m.Draining,
			Slots: place.Slots, Kinds: place.Kinds, Labels: place.Labels, Own: m.Session == own,
		})
	}
	l.step(tasks.Members{List: list})
	for _, session := range l.books.Sessions() {
		if p := l.peers[session]; !present[session] && l.h.Dead(p.instance, p.workerOnly, session) {
			delete(l.loading, session)
			delete(l.partial, session)
			l.step(tasks.Dead{Session: session, Closed: l.h.Closed(p.instance, p.workerOnly, session)})
		}
	}
	if len(l.peers) > 2*len(all)+64 {
		kept := map[uint64]peer{}
		for _, session := range l.books.Sessions() {
			kept[session] = l.peers[session]
		}
		l.peers = kept
	}
}

// watchConnection tells the books when the connection was another one: late copies of writes may be under way.
func (l *scheduler) watchConnection(ctx context.Context) {
	changes := l.nc.StatusChanged(nats.CONNECTED)
	defer l.nc.RemoveStatusListener(changes)
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changes:
			if !ok {
				return
			}
			l.in.Put(tasks.Reconnected{})
		}
	}
}

func (l *scheduler) emit(e event.Event) { l.h.Emit(e) }

// fail ends the term. The first reason counts.
func (l *scheduler) fail(err error) {
	if l.fenced == nil {
		l.fenced = err
	}
}

// checkpointsBelow notes that the stream has not taken a checkpoint of size bytes: so large a one is refused at once, for the
// rest of the term.
func (l *scheduler) checkpointsBelow(size int) { l.largest = min(l.largest, size-1) }
