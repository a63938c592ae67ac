package election

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// control speaks with other members and operators: requests to our control subject, answered when
// their outcome is known. NATS permissions on that subject decide which clients may steer. A
// leader's question whether we are ready to take its role comes on our ready subject.
type control struct {
	l    *loop
	subs []*nats.Subscription
	out  *mailbox.Mailbox[reply] // bounded by the requests that wait for an answer

	mu     sync.Mutex
	answer map[string]*protocol.Response // by request id; nil while it is not known
	order  []string                      // of the ids, oldest first
	owed   map[string][]*nats.Msg        // requests with that id that wait
}

type reply struct {
	to       *nats.Msg
	response protocol.Response
}

const (
	maxRequests = 256     // remembered by id, so that a repeated request is not carried out again
	maxRequest  = 4 << 10 // bytes; of an answer too
	maxOwed     = 16      // repeats of one request that wait; the sender listens for the latest answer
	maxPending  = 1024    // requests that NATS holds for us
)

// newControl listens for requests, but for a session that only works: nobody has anything to ask of
// it.
func newControl(ctx context.Context, l *loop) (*control, error) {
	c := &control{
		l: l, out: mailbox.New[reply](), answer: map[string]*protocol.Response{}, owed: map[string][]*nats.Msg{},
	}
	if l.s.cfg.WorkerOnly {
		return c, nil
	}
	bucket, id, me := l.bucket.Name(), l.bucket.Identity().ID, l.s.cfg.InstanceID
	err := c.listen(ctx, record.ControlSubject(bucket, id, me), false)
	if err == nil {
		err = c.listen(ctx, record.ReadySubject(bucket, id, me), true)
	}
	if err == nil && l.s.cfg.BucketAutoCreate && l.s.reach.IsZero() {
		err = c.keep()
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("listen for control requests: %w", err)
	}
	return c, nil
}

func (c *control) listen(ctx context.Context, subject string, readyOnly bool) error {
	before := c.l.nc.LastError()
	sub, err := c.l.nc.Subscribe(subject, func(m *nats.Msg) {
		// A client that may make a consumer can have records delivered here. Such records keep the
		// subject that they were stored under.
		if m.Subject == subject {
			c.receive(m, readyOnly)
		}
	})
	if err != nil {
		return err
	}
	c.subs = append(c.subs, sub)
	return errors.Join(sub.SetPendingLimits(maxPending, maxPending*maxRequest), denied(ctx, c.l.nc, before, subject, true))
}

// keep answers which bucket this session uses.
func (c *control) keep() error {
	sub, err := c.l.bucket.Keep(c.l.ctx, c.l.nc)
	if err == nil {
		c.subs = append(c.subs, sub)
	}
	return err
}

func (c *control) stop() {
	for _, sub := range c.subs {
		_ = sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
	}
	c.out.Close()
}

// receive takes a request; on the subject for it, only the question whether we are ready. One whose
// id is known gets the same answer again, or waits for it with the first.
func (c *control) receive(m *nats.Msg, readyOnly bool) {
	var q protocol.Request
	if len(m.Data) > maxRequest || json.Unmarshal(m.Data, &q) != nil || q.ID == "" ||
		readyOnly && q.Op != protocol.OpReady {
		c.out.Put(reply{m, protocol.Response{Error: "not a control request"}})
		return
	}
	c.mu.Lock()
	answer, known := c.answer[q.ID]
	switch {
	case answer != nil:
		c.mu.Unlock()
		c.out.Put(reply{m, *answer})
		return
	case known:
		if c.owed[q.ID] = append(c.owed[q.ID], m); len(c.owed[q.ID]) > maxOwed {
			c.owed[q.ID] = slices.Delete(c.owed[q.ID], 0, 1)
		}
		c.mu.Unlock()
		return
	}
	c.remember(q.ID)
	c.owed[q.ID] = []*nats.Msg{m}
	c.mu.Unlock()
	id := protocol.CommandID(c.l.s.commands.Add(1))
	c.l.s.box.Put(message{
		event: protocol.Asked{ID: id, Request: q}, id: id,
		answer: func(d protocol.Done) {
			if e := c.l.s.election(q.Role); e != nil && e.cfg.Spread { // the loads decide, not who is first in line
				d.Successor = ""
			}
			c.answered(q.ID, d)
		},
	})
}

func (c *control) remember(id string) {
	c.answer[id] = nil
	if c.order = append(c.order, id); len(c.order) > maxRequests {
		delete(c.answer, c.order[0])
		delete(c.owed, c.order[0])
		c.order = c.order[1:]
	}
}

func (c *control) answered(id string, d protocol.Done) {
	response := protocol.Response{ID: id, OK: d.Err == nil, Successor: d.Successor}
	if d.Err != nil {
		response.Error = d.Err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.answer[id]; known {
		c.answer[id] = &response
	}
	for _, m := range c.owed[id] {
		c.out.Put(reply{m, response})
	}
	delete(c.owed, id)
}

// respond sends the answers; it may wait for the connection.
func (c *control) respond() {
	var batch []reply
	for {
		<-c.out.Ready()
		batch = c.out.Drain(batch)
		for _, r := range batch {
			if data, err := json.Marshal(r.response); err == nil && r.to.Reply != "" {
				_ = r.to.Respond(data) // a client without an answer asks again
			}
		}
		if c.out.Closed() {
			return
		}
	}
}

// ask sends a request to another member and hands the outcome to the machine. There is one per role
// at a time.
func (c *control) ask(a protocol.Ask) {
	l := c.l
	l.wg.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.s.cfg.OpTimeout)
		defer cancel()
		response, err := request(ctx, l.nc, l.bucket, a.Instance, a.Request)
		l.s.post(protocol.Answered{Role: a.Request.Role, Target: a.Instance, OK: err == nil && response.OK})
	})
}

// wake tells another member that it follows soon. Nobody waits for an answer: none comes without a
// reply subject.
func (c *control) wake(e protocol.Wake) {
	l := c.l
	l.wg.Go(func() { // it may wait for the connection
		if data, err := json.Marshal(e.Request); err == nil {
			// what is not sent costs the other one a beat
			_ = l.nc.Publish(record.ReadySubject(l.bucket.Name(), l.bucket.Identity().ID, e.Instance), data)
		}
	})
}

func request(ctx context.Context, nc *nats.Conn, bucket *natskv.Bucket, instance string,
	q protocol.Request,
) (protocol.Response, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return protocol.Response{}, err
	}
	subject := record.ControlSubject(bucket.Name(), bucket.Identity().ID, instance)
	if q.Op == protocol.OpReady {
		subject = record.ReadySubject(bucket.Name(), bucket.Identity().ID, instance)
	}
	before := nc.LastError()
	m, err := nc.RequestWithContext(ctx, subject, data)
	if errors.Is(err, context.DeadlineExceeded) {
		if denied := denied(ctx, nc, before, subject, false); denied != nil {
			err = public(denied)
		}
	}
	if err != nil {
		return protocol.Response{}, err
	}
	return readResponse(m.Data, q.ID)
}

var errNoAnswer = errors.New(
	"no answer to a control request: see which other client listens to the subject of that instance")

// readResponse reads the answer to the request of an id. A process that could not read a request
// answers without its id, and says why it refuses.
func readResponse(data []byte, id string) (r protocol.Response, err error) {
	if len(data) > maxRequest {
		return r, fmt.Errorf("%w: it has %d bytes", errNoAnswer, len(data))
	}
	err = json.Unmarshal(data, &r)
	switch {
	case err != nil:
	case r.ID != id && (r.ID != "" || r.OK):
		err = errors.New("it is of another request")
	case r.OK == (r.Error != ""):
		err = errors.New("it does not say that it was done, or why not")
	default:
		return r, nil
	}
	return protocol.Response{}, fmt.Errorf("%w: %w", errNoAnswer, err)
}

// askedWithin bounds the round trip that finds out whether the server has denied something.
const askedWithin = 2 * time.Second

// denied finds out whether the server has denied us a subject. A denial looks like silence, but the
// server complains on the side, in order with its other answers: after a round trip the complaint
// is here. before is the connection's last error from before the attempt. It returns nil also when
// there was no round trip.
func denied(ctx context.Context, nc *nats.Conn, before error, subject string, subscribe bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askedWithin) // what ended ctx may be the silence itself
	defer cancel()
	if nc.FlushWithContext(ctx) != nil {
		return nil
	}
	last := nc.LastError()
	if last == before || !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`) {
		return nil
	}
	return &natskv.PermissionError{Subject: subject, Subscribe: subscribe}
}
