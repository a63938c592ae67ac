package electionotel

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/event"
)

// begin begins a span of a hand-over, below its root or as its root.
func (s *Sink) begin(name, bucket, role string, epoch uint64, root bool, from time.Time,
	attributes []attribute.KeyValue,
) trace.Span {
	w := new(wish)
	ctx := context.WithValue(context.Background(), wishKey{}, w)
	opts := []trace.SpanStartOption{trace.WithTimestamp(from), trace.WithAttributes(attributes...)}
	if epoch != 0 {
		w.root = above(bucket, role, epoch)
	}
	if root || epoch == 0 { // which term has ended nobody has seen
		opts = append(opts, trace.WithNewRoot())
	} else {
		ctx = trace.ContextWithRemoteSpanContext(ctx, w.root)
	}
	_, span := s.tracer.Start(ctx, name+" "+role, opts...)
	s.rooted = s.rooted || w.heard
	return span
}

// write writes a span below the root of a hand-over.
func (s *Sink) write(name string, m event.Meta, role string, epoch uint64, from, to time.Time,
	attributes []attribute.KeyValue,
) {
	s.begin(name, m.Bucket, role, epoch, false, from, attributes).End(trace.WithTimestamp(to))
}

func (s *Sink) drained(p *part, e event.RoleDrained) {
	attributes := about(e.Meta, e.Role, e.Epoch)
	if p.own.epoch == e.Epoch {
		p.own.drained = e.Time
		attributes = text(attributes, AttributeReason, p.own.reason)
	}
	s.write("drain", e.Meta, e.Role, e.Epoch, e.Time.Add(-e.Took), e.Time, attributes)
}

func (s *Sink) stuck(e event.RoleStuck) {
	span := s.begin("stuck", e.Bucket, e.Role, e.Epoch, false, e.Time.Add(-e.Since), about(e.Meta, e.Role, e.Epoch))
	span.SetStatus(codes.Error, "the work has not returned in time")
	span.End(trace.WithTimestamp(e.Time))
}

// vacant ends the own vacate, and is the beginning of everybody's claim.
func (s *Sink) vacant(p *part, e event.RoleVacant) {
	if e.Epoch != 0 {
		p.epoch = e.Epoch
	}
	p.by, p.reason = e.By, e.Reason
	p.note(e.Time, "vacant", text(text(nil, AttributeFrom, e.By), AttributeReason, e.Reason)...)
	if e.By == e.Instance {
		s.gaveAway(p, e.Meta, e.Role)
	}
}

// gaveAway writes the vacate of an own term, once.
func (s *Sink) gaveAway(p *part, m event.Meta, role string) {
	o := &p.own
	if o.epoch == 0 || !o.out.IsZero() {
		return
	}
	o.out = m.Time
	from := o.drained
	if from.IsZero() { // it was given away undrained
		from = o.at
	}
	s.write("vacate", m, role, o.epoch, from, m.Time, text(about(m, role, o.epoch), AttributeReason, o.reason))
}

// passed takes in that an own term is over and done with: if it had drained in a session that is
// the present one, its role was given away, though the vacancy was not seen, because the next claim
// came at once.
func (s *Sink) passed(p *part, m event.Meta, role string) {
	if p.own.session == m.Session && !p.own.drained.IsZero() && !slices.Contains(taken, p.own.reason) {
		s.gaveAway(p, m, role)
	}
}

// taken are the reasons of terms whose role others may have taken.
var taken = []string{"evicted", "disconnected", "session lost"}

// led takes in that another process leads.
func (s *Sink) led(p *part, e event.LeaderChanged) {
	if e.Leader == "" || e.Leader == e.Instance {
		return
	}
	s.passed(p, e.Meta, e.Role)
	s.whole(p, e.Meta, e.Role, e.Leader, e.Epoch)
	*p = part{epoch: e.Epoch, leader: e.Leader}
}

// whole writes the root of a hand-over by the process that gave the role away. Whether the ids of a
// root can be chosen has shown by then.
func (s *Sink) whole(p *part, m event.Meta, role, to string, next uint64) {
	o := p.own
	if o.epoch == 0 || o.out.IsZero() || !s.rooted {
		return
	}
	attributes := append(text(about(m, role, o.epoch), AttributeReason, o.reason), AttributeFrom.String(m.Instance))
	if to != "" {
		attributes = append(attributes, AttributeTo.String(to), AttributeNextEpoch.Int64(int64(next)))
	}
	s.begin("hand over", m.Bucket, role, o.epoch, true, o.at, attributes).End(trace.WithTimestamp(m.Time))
}

// promoted writes the claim of a role that another process has led, or this one before. If nobody
// gave the role away, the root is to be written here.
func (s *Sink) promoted(p *part, e event.RolePromoted) {
	from := e.Time.Add(-e.Gap)
	if p.epoch != 0 || e.Gap != 0 { // else it is the first leader
		s.whole(p, e.Meta, e.Role, e.Instance, e.Epoch) // to itself
		s.claimed(p, e, from)
	}
	*p = part{epoch: e.Epoch, leader: e.Instance}
}

func (s *Sink) claimed(p *part, e event.RolePromoted, from time.Time) {
	attributes := text(text(about(e.Meta, e.Role, p.epoch), AttributeFrom, p.leader), AttributeReason, p.reason)
	attributes = append(attributes, AttributeTo.String(e.Instance), AttributeNextEpoch.Int64(int64(e.Epoch)))
	span := s.begin("claim", e.Bucket, e.Role, p.epoch, false, from, attributes)
	for _, n := range p.notes {
		if !n.at.Before(from) {
			span.AddEvent(n.name, trace.WithTimestamp(n.at), trace.WithAttributes(n.attributes...))
		}
	}
	span.End(trace.WithTimestamp(e.Time))
	if p.epoch != 0 && p.by != p.leader && s.rooted {
		s.begin("take over", e.Bucket, e.Role, p.epoch, true, from, attributes).End(trace.WithTimestamp(e.Time))
	}
}
