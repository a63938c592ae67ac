package roles

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
)

// Run connects, opens the session and takes part in the roles until ctx ends. Then it drains the
// work, hands the roles over and closes the session and its own connection. That takes at most
// DrainTimeout and a few operations. Before that, the attachments of the session take their own
// time: running tasks have assign.Config.DrainTimeout.
//
// Run returns nil after a clean end. Errors: an error that a Lead has marked as Fatal,
// ErrAlreadyRun, and *election.UndrainedError, alone or joined, when work had not returned; its
// roles stay held until the lease runs out. Likewise assign.ErrHandlersStuck when handlers of tasks
// had not returned; their tasks run elsewhere once the lease has run out. The permanent faults of a
// session are errors too, such as election.ErrBucketNotFound (with the command that makes the
// bucket), election.ErrPermission (with the subject), credentials that are refused before the first
// connection, and *election.DuplicateInstanceError. An outage is not an error: Run waits until it
// is over.
func (m *Manager) Run(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	m.systemd.Start(func() { m.session.Role("") }) // the loop of the session answers
	defer m.systemd.Stop()
	nc, err := m.connect(ctx)
	if m.servers != nil {
		defer m.servers.end() // the session is closed
	}
	if nc == nil {
		return errors.Join(err, m.close(nil))
	}
	refusal := func() error { return nil }
	if m.cfg.Conn == nil {
		refusal = watchFirst(nc, m.reports.reason())
	}
	err = m.session.Open(ctx, nc)
	if why := refusal(); err != nil && why != nil {
		err = fmt.Errorf("roles: the NATS servers refuse the credentials: %w: "+credentialsFix+" (%w)", why, err)
	} else if err == nil {
		err = m.lead(ctx)
	} else if ctx.Err() != nil {
		err = nil // ended before it began: nothing is held
	} else {
		err = m.explain(nc, err)
	}
	return errors.Join(err, m.close(nc))
}

// begin makes this call the one run, and starts the elections, which wait for the session.
func (m *Manager) begin(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != created {
		return ErrAlreadyRun
	}
	m.phase = running
	// The session ends the elections, all together and in the right order. So the end of ctx must
	// not end each of them separately.
	m.base = context.WithoutCancel(ctx)
	m.start(m.roles)
	return nil
}

// connect is the connection of this run. It waits for the first list of servers: when ctx ends
// before, there is neither a connection nor an error.
func (m *Manager) connect(ctx context.Context) (*nats.Conn, error) {
	if m.cfg.Conn != nil {
		return m.cfg.Conn, nil
	}
	sc := m.session.Config()
	if m.cfg.Servers != nil {
		m.servers = followServers(ctx, m.cfg.Servers, sc.Zone, sc.HeartbeatInterval, sc.TTL, m.reports.fault)
		select {
		case <-m.servers.first:
		case <-ctx.Done():
			return nil, nil
		}
	}
	nc, err := dial(m.cfg, m.session.Instance(), sc.HeartbeatInterval, m.reports, m.servers)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.conn = nc
	m.mu.Unlock()
	return nc, nil
}

// lead takes part until there is a reason to end, and returns the reason: nil when ctx has ended.
func (m *Manager) lead(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-m.fatal:
		return err
	case <-m.session.Done():
		return m.explain(m.connection(), m.session.Err())
	}
}

// explain adds why the connection has given up, if that ended the session.
func (m *Manager) explain(nc *nats.Conn, err error) error {
	if m.cfg.Conn == nil && nc.IsClosed() && nc.LastError() != nil {
		return fmt.Errorf("%w: %w", err, nc.LastError())
	}
	if errors.Is(err, election.ErrPermission) { // the server names one subject at a time
		return fmt.Errorf("%w; docs/reference/permissions.md has all that a process needs", err)
	}
	return err
}

// close drains, hands over and closes the session, and the manager's own connection; nc is nil when
// there is none. The error names the roles whose work has not returned.
func (m *Manager) close(nc *nats.Conn) error {
	m.enter(draining)
	m.systemd.Drain()
	defer m.enter(ended)
	ctx, cancel := context.WithTimeout(context.Background(), m.patience())
	defer cancel()
	err := m.session.Close(ctx)
	if nc != nil && nc != m.cfg.Conn {
		nc.Close() // also frees calls that still wait for it
	}
	if undrained := (*election.UndrainedError)(nil); err != nil && !errors.As(err, &undrained) {
		return fmt.Errorf("roles: close the session: %w", err)
	}
	return err
}

func (m *Manager) enter(p phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase = p
}
