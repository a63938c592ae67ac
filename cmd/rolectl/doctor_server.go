package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// server checks the servers themselves: their versions, and what the account may store.
func (x *examination) server(ctx context.Context) {
	nc := x.a.nc
	versions := map[string][]string{nc.ConnectedServerVersion(): {nc.ConnectedServerName()}}
	var missing []string
	for _, url := range nc.Servers() {
		if url == nc.ConnectedUrl() {
			continue
		}
		target := x.a.target
		target.URL, target.Timeout = url, time.Second
		other, err := target.Dial(nats.NoReconnect(), nats.DontRandomize(), nats.IgnoreDiscoveredServers())
		if err != nil {
			missing = append(missing, target.Address())
			continue
		}
		if name, v := other.ConnectedServerName(), other.ConnectedServerVersion(); !slices.Contains(versions[v], name) {
			versions[v] = append(versions[v], name)
		}
		other.Close()
	}
	for v, names := range versions {
		slices.Sort(names)
		what := fmt.Sprintf("nats-server %s (%s)", v, strings.Join(names, ", "))
		switch {
		case older(v, 2, 12, 0):
			x.add(critical, "server", "upgrade it to 2.12 or later", "%s is too old: it has no atomic batches", what)
		case nc.ConnectedClusterName() != "" && older(v, 2, 14, 4):
			x.add(warning, "server", "upgrade it to 2.14.4 or later", "%s: before 2.14.4 a cluster can take a proposal of a deposed stream leader", what)
		default:
			x.ok("server", "%s", what)
		}
	}
	if len(versions) > 1 {
		x.add(warning, "server", "finish the upgrade", "the servers have %d different versions", len(versions))
	}
	if len(missing) > 0 {
		x.ok("server", "not reached from here, and so not looked at: %s", strings.Join(missing, ", "))
	}
	x.limits(ctx)
}

// older reports whether a version is below another one; what is no version is not.
func older(version string, major, minor, patch int) bool {
	var a, b, c int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); n < 2 {
		return false
	}
	return slices.Compare([]int{a, b, c}, []int{major, minor, patch}) < 0
}

// limits checks how much of what the account may store is used.
func (x *examination) limits(ctx context.Context) {
	m, denied, err := x.ask(ctx, "$JS.API.INFO", nil)
	switch {
	case denied:
		x.ok("limits", "not looked at: this user may not publish to $JS.API.INFO")
		return
	case errors.Is(err, nats.ErrNoResponders):
		x.add(critical, "limits", "enable it with \"jetstream {}\" in the server's configuration", "JetStream is off: nobody answers for it")
		return
	case err != nil:
		x.add(unknown, "limits", "ask again", "no answer about the limits of the account: %v", err)
		return
	}
	x.account(m.Data)
}

// account judges what the server says of the account.
func (x *examination) account(data []byte) {
	var a jetstream.AccountInfo
	switch err := readAnswer(data, &a); {
	case errors.As(err, new(*jetstream.APIError)):
		x.add(critical, "limits", "enable JetStream for the account", "%s", err.(*jetstream.APIError).Description)
		return
	case err != nil:
		x.add(unknown, "limits", "ask again", "the answer about the limits of the account cannot be read: %v", err)
		return
	}
	before := len(x.findings)
	tiers := map[string]jetstream.Tier{"": a.Tier}
	for name, t := range a.Tiers {
		tiers[name] = t
	}
	for name, t := range tiers {
		of, fix := "", "raise the limit of the account, or remove what is no longer needed"
		if name != "" {
			of = " of tier " + name
		}
		x.used("limits", "file storage"+of, fix, t.Store, t.Limits.MaxStore)
		x.used("limits", "memory"+of, fix, t.Memory, t.Limits.MaxMemory)
		x.used("limits", "streams"+of, fix, uint64(t.Streams), int64(t.Limits.MaxStreams))
		x.used("limits", "consumers"+of, fix, uint64(t.Consumers), int64(t.Limits.MaxConsumers))
	}
	if len(x.findings) == before {
		x.ok("limits", "the account is well below its JetStream limits")
	}
}

// used judges how full something is; a limit of 0 or less is none, or nothing that this account uses.
func (x *examination) used(check, what, fix string, used uint64, limit int64) {
	if limit <= 0 || used == 0 {
		return
	}
	switch full := float64(used) / float64(limit); {
	case full >= 0.95:
		x.add(critical, check, fix, "%s: %d of %d used: writes are refused, or about to be", what, used, limit)
	case full >= 0.8:
		x.add(warning, check, fix, "%s: %d of %d used", what, used, limit)
	}
}

// askWithin bounds one question that may be denied without a word.
const askWithin = time.Second

// ask sends a request. A denial looks like silence, but the server complains on the side; after a round trip it has.
func (x *examination) ask(ctx context.Context, subject string, data []byte) (m *nats.Msg, denied bool, err error) {
	nc := x.a.nc
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	inbox := nc.NewInbox()
	before := nc.LastError()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	if err := nc.PublishRequest(subject, inbox, data); err != nil {
		return nil, false, err
	}
	if err := nc.FlushWithContext(ctx); err != nil {
		return nil, false, err
	}
	if nc.LastError() != before && forbidden(nc, subject) {
		return nil, true, nil
	}
	m, err = sub.NextMsgWithContext(ctx)
	return m, false, err
}

// roundTrip compares the way to the server with the heartbeats of the bucket: of each member that beats, how often it does,
// as was seen, or as its TTL has it by default.
func (x *examination) roundTrip() {
	worst := time.Duration(0)
	for range 5 {
		rtt, err := x.a.nc.RTT()
		if err != nil {
			x.add(unknown, "round trip", "ask again", "no answer to a ping: %v", err)
			return
		}
		worst = max(worst, rtt)
	}
	beat, who := time.Duration(0), ""
	for _, m := range x.s.Members() {
		if m.Idle {
			continue
		}
		if every := x.seen.beatOf(m); beat == 0 || every < beat {
			beat, who = every, m.Instance
		}
	}
	fix := "raise the TTL of " + who + ", or bring it nearer to the servers"
	switch what := fmt.Sprintf("%s at worst from here", show.Age(worst)); {
	case beat == 0:
		x.ok("round trip", "%s", what)
	case worst > beat/2:
		x.add(critical, "round trip", fix, "%s, and %s beats every %s: a heartbeat times out after half of that by default", what, who, show.Age(beat))
	case worst > beat/8:
		x.add(warning, "round trip", fix, "%s, and %s beats every %s: little is left for a lost packet", what, who, show.Age(beat))
	default:
		x.ok("round trip", "%s; the quickest heartbeat, of %s, comes every %s", what, who, show.Age(beat))
	}
}

// stepped is from when on a jump of a clock is worth telling: what the network adds is less.
const stepped = 250 * time.Millisecond

// time watches the server's clock against ours, for jumps. That the two differ does no harm: nothing compares them.
func (x *examination) time(ctx context.Context, watchFor time.Duration) {
	stream := "KV_" + x.a.bucket
	var low, high time.Duration
	samples := 0
	for end := time.Now().Add(watchFor); ; {
		once, cancel := context.WithTimeout(ctx, askWithin)
		ahead, err := clockAhead(once, x.a.nc, stream)
		cancel()
		if err == nil {
			if samples == 0 {
				low, high = ahead, ahead
			}
			low, high = min(low, ahead), max(high, ahead)
			samples++
		}
		left := time.Until(end)
		if left <= 0 || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(min(left, stepped)):
		case <-ctx.Done():
		}
	}
	fix := "let the servers' clocks be slewed rather than stepped (chrony or ntpd): the server expires records by its wall clock"
	if samples == 0 {
		x.add(unknown, "clock", "ask again", "the server did not tell its time")
		return
	}
	x.s.ledger.mu.Lock()
	steps := slices.Clone(x.s.steps)
	x.s.ledger.mu.Unlock()
	worst := clockStep{}
	for _, s := range steps {
		if s.Back > worst.Back {
			worst = s
		}
	}
	switch {
	case worst.Back > time.Second:
		x.add(warning, "clock", fix, "the clock of the stream's leader went back by %s before it stored %s", show.Age(worst.Back), worst.Key)
	case high-low > stepped:
		x.add(warning, "clock", fix, "the server's clock and ours moved by %s against each other within %s", show.Age(high-low), watchFor)
	default:
		x.ok("clock", "no step within %s; the server's clock is %s %s ours, which does no harm", watchFor, show.Age(low.Abs()), aheadOrBehind(low))
	}
}

func aheadOrBehind(d time.Duration) string {
	if d < 0 {
		return "behind"
	}
	return "ahead of"
}

// permissions says what this user may do. That it may read has shown already.
func (x *examination) permissions(ctx context.Context) {
	subject := "$ROLES." + x.a.bucket + ".ctl.rolectl-doctor" // nobody has that name
	switch _, denied, err := x.ask(ctx, subject, nil); {
	case denied:
		x.ok("permissions", "this user may look, and may not steer")
	case err == nil, errors.Is(err, nats.ErrNoResponders): // it has passed
		x.ok("permissions", "this user may look and steer")
	default:
		x.add(unknown, "permissions", "ask again, or see this user's permissions for "+subject, "this user may look; whether it may steer was not to be found out: %v", err)
	}
}
