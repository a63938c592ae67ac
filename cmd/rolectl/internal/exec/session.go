package exec

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// longestDrain is the longest DrainTimeout of a session.
const longestDrain = 365 * 24 * time.Hour

func (o execOptions) session(bucket string) election.SessionConfig {
	return election.SessionConfig{
		Bucket: bucket, InstanceID: o.instance, TTL: o.ttl,
		Meta: map[string]string{
			findings.MetaProgram: "rolectl exec",
			findings.MetaVersion: cli.ModuleVersion(),
		},
		DrainTimeout: min(o.stop+o.ttl, longestDrain), // work that outlives the KILL is stuck
	}
}

func (o execOptions) role(name string) election.RoleConfig {
	return election.RoleConfig{Role: name, Priority: o.priority, AllowPriorityTakeover: o.takeover}
}

// openSession connects with options that suit a session, and opens the session.
func openSession(ctx context.Context, a *cli.App, s *election.Session) error {
	beat := s.Config().HeartbeatInterval
	pause := min(beat, time.Second)
	options := []nats.Option{
		nats.Name("rolectl exec " + s.Instance()), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(pause), nats.ReconnectJitter(pause/2, pause),
		nats.ReconnectBufSize(-1), // a write while the connection is down fails at once: later it would come too late
		nats.PingInterval(beat), nats.MaxPingsOutstanding(2), nats.FlusherTimeout(beat),
	}
	if target, err := a.Settings.Resolve(); err != nil {
		return cli.UsageError(err)
	} else if target.InboxPrefix == "" {
		options = append(options, nats.CustomInboxPrefix("_INBOX_"+s.Instance()))
	}
	nc, err := a.Connect(options...)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, a.Target.Timeout)
	defer cancel()
	b, err := a.Reach().Open(asking, nc, a.Bucket)
	if err != nil { // a server that does not answer now is not waited for
		return cli.BucketError(err)
	}
	if ttl := s.Config().TTL; ttl > b.MaxTTL() {
		return cli.UsageError(
			fmt.Errorf("--ttl %v is above %v, the maximum of bucket %s: give less, or create a bucket with a larger --max-ttl",
				ttl, b.MaxTTL(), a.Bucket))
	}
	// If a predecessor of the same name has left a lease, opening waits until that lease has run
	// out.
	ctx, cancel = context.WithTimeout(ctx, a.Target.Timeout+4*s.Config().TTL)
	defer cancel()
	return s.Open(ctx, nc)
}
