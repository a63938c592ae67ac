package exec

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

func (o execOptions) session(bucket string) election.SessionConfig {
	return election.SessionConfig{
		Bucket: bucket, InstanceID: o.instance, TTL: o.ttl, Meta: map[string]string{inventory.MetaProgram: "rolectl exec", inventory.MetaVersion: cli.ModuleVersion()},
		DrainTimeout: o.stop + o.ttl, // after the KILL it is stuck indeed
	}
}

func (o execOptions) role(name string) election.RoleConfig {
	return election.RoleConfig{Role: name, Priority: o.priority, AllowPriorityTakeover: o.takeover}
}

// open connects as a session wants it, and opens it.
func openSession(ctx context.Context, a *cli.App, s *election.Session) error {
	beat := s.Config().HeartbeatInterval
	pause := min(beat, time.Second)
	options := []nats.Option{
		nats.Name("rolectl exec " + s.Instance()), nats.MaxReconnects(-1), nats.ReconnectWait(pause), nats.ReconnectJitter(pause/2, pause),
		nats.ReconnectBufSize(-1), // what is published while the connection is down fails at once: later, its time is over
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
	b, err := natskv.Open(asking, nc, a.Bucket)
	if err != nil { // what does not answer is no server, and is not waited for
		return cli.BucketError(err)
	}
	if ttl := s.Config().TTL; ttl > b.MaxTTL() {
		return cli.UsageError(fmt.Errorf("--ttl %v is above the %v that bucket %s allows: give less, or make the bucket with a larger --max-ttl", ttl, b.MaxTTL(), a.Bucket))
	}
	// Over the lease of a predecessor with our name, opening waits until that has run out.
	ctx, cancel = context.WithTimeout(ctx, a.Target.Timeout+4*s.Config().TTL)
	defer cancel()
	return s.Open(ctx, nc)
}
