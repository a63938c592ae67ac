package bench

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
)

// participant is one member, with a connection of its own that can be cut.
type participant struct {
	*election.Election
	session *election.Session
	nc      *nats.Conn
}

const benchRole = "bench"

// join opens a session and contends for the role.
func (b *benchmark) join(instance string) (*participant, error) {
	nc, err := b.a.Target.Dial(nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		return nil, err
	}
	s := &participant{nc: nc}
	cfg := b.session(instance)
	if s.session, err = election.NewSession(cfg); err != nil {
		nc.Close()
		return nil, err
	}
	ctx, cancel := b.round()
	defer cancel()
	if err := s.session.Open(ctx, nc); err != nil {
		nc.Close()
		return nil, err
	}
	s.Election, err = s.session.Campaign(election.RoleConfig{
		Role: benchRole,
		Lead: func(ctx context.Context, t *election.Term) error {
			select {
			case b.promotions <- t.Since():
			default:
			}
			<-ctx.Done()
			return nil
		},
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, s.Start(context.WithoutCancel(b.ctx))
}

func (s *participant) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.session.Close(ctx) // the bucket will be removed
	s.nc.Close()
}
