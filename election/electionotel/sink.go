package electionotel

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/event"
)

const scope = "github.com/rolemanager/rolemanager/election/electionotel"

// Option changes what NewSink makes.
type Option func(*options)

type options struct{ provider trace.TracerProvider }

// WithTracerProvider makes the spans with p. Default: the global one of otel.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.provider = p } }

// Sink is an event.Sink that writes the spans of hand-overs. It may be used concurrently and by
// several sessions.
type Sink struct {
	tracer trace.Tracer

	mu     sync.Mutex
	parts  map[place]*part
	rooted bool // the provider has our generator
}

var _ event.Sink = (*Sink)(nil)

// NewSink returns a Sink.
func NewSink(opts ...Option) *Sink {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.provider == nil {
		o.provider = otel.GetTracerProvider()
	}
	return &Sink{tracer: o.provider.Tracer(scope), parts: map[place]*part{}}
}

// Observe takes an event. It ignores those that are part of no hand-over.
func (s *Sink) Observe(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := event.MetaOf(e)
	switch e := e.(type) {
	case event.RoleJoined:
		s.parts[at(m, e.Role)] = &part{epoch: e.Epoch, leader: e.Leader}
	case event.RoleLeft:
		s.leave(at(m, e.Role), m)
	case event.SessionLost:
		s.lost(e)
	case event.SessionClosed:
		s.forget(m)

	case event.RoleDemoted:
		s.of(m, e.Role).demoted(e)
	case event.RoleStuck:
		s.stuck(e)
	case event.RoleDrained:
		s.drained(s.of(m, e.Role), e)
	case event.RoleVacant: // a session sees all roles of the bucket
		if p := s.parts[at(m, e.Role)]; p != nil {
			s.vacant(p, e)
		}
	case event.LeaderChanged:
		if p := s.parts[at(m, e.Role)]; p != nil {
			s.led(p, e)
		}
	case event.RolePromoted:
		s.promoted(s.of(m, e.Role), e)
	case event.RoleRotated:
		s.of(m, e.Role).epoch = e.Epoch

	case event.ClaimAttempted:
		if p := s.parts[at(m, e.Role)]; p != nil {
			p.note(m.Time, "claim", outcomeKey.String(e.Outcome), tookKey.Float64(e.Duration.Seconds()))
		}
	case event.Fault:
		if p := s.parts[at(m, e.Role)]; p != nil && e.Err != nil {
			p.note(m.Time, "fault", doingKey.String(e.Doing), errorKey.String(e.Err.Error()))
		}
	case event.SessionKilled:
		s.noteAbout(m, e.Victim, "session killed", victimKey.String(e.Victim))
	case event.MemberLeft:
		s.noteAbout(m, e.Member, "member left", victimKey.String(e.Member), AttributeReason.String(e.Reason))
	}
}

// of is the part that a session has in a role. If its beginning was missed, it begins now.
func (s *Sink) of(m event.Meta, role string) *part {
	p := s.parts[at(m, role)]
	if p == nil {
		p = &part{}
		s.parts[at(m, role)] = p
	}
	return p
}

// lost writes that a session is lost, with links to the hand-overs that follow from it.
func (s *Sink) lost(e event.SessionLost) {
	var links []trace.Link
	for at, p := range s.parts {
		if at.bucket == e.Bucket && at.instance == e.Instance && p.own.epoch != 0 && p.own.session == e.Session {
			links = append(links, trace.Link{SpanContext: above(at.bucket, at.role, p.own.epoch)})
		}
	}
	_, span := s.tracer.Start(context.Background(), "lose session", trace.WithNewRoot(), trace.WithTimestamp(e.Time),
		trace.WithLinks(links...), trace.WithAttributes(text(origin(e.Meta), AttributeReason, e.Reason)...))
	cause := e.Reason
	if e.Cause != nil {
		cause = e.Cause.Error()
	}
	span.SetStatus(codes.Error, cause)
	span.End(trace.WithTimestamp(e.Time))
}

// forget drops what is known of a session that is closed.
func (s *Sink) forget(m event.Meta) {
	for at, p := range s.parts {
		if at.bucket == m.Bucket && at.instance == m.Instance {
			s.passed(p, m, at.role)
			s.leave(at, m)
		}
	}
}

// leave drops what is known of a role. The next leader may be unknown then.
func (s *Sink) leave(at place, m event.Meta) {
	if p := s.parts[at]; p != nil {
		s.whole(p, m, at.role, "", 0)
		delete(s.parts, at)
	}
}
