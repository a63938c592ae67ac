package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// server checks the servers: their versions, and the limits of the account.
func (x *examination) server(ctx context.Context) {
	nc := x.a.Conn
	versions := map[string][]string{nc.ConnectedServerVersion(): {nc.ConnectedServerName()}}
	runs := func(name, v string) {
		if !slices.Contains(versions[v], name) {
			versions[v] = append(versions[v], name)
		}
	}
	x.servers, x.unseen = asked(ctx, nc, askServers)
	for _, s := range x.servers {
		runs(s.Name, s.Version)
	}
	var missing []string
	for _, url := range nc.Servers() {
		target, another := x.a.Target.At(url, nc.ConnectedUrl())
		if !another {
			continue
		}
		target.Timeout = time.Second
		other, err := target.Dial(nats.NoReconnect(), nats.DontRandomize(), nats.IgnoreDiscoveredServers())
		if err != nil {
			missing = append(missing, target.Address())
			continue
		}
		runs(other.ConnectedServerName(), other.ConnectedServerVersion())
		other.Close()
	}
	for v, names := range versions {
		slices.Sort(names)
		what := fmt.Sprintf("nats-server %s (%s)", v, strings.Join(names, ", "))
		switch {
		case older(v, 2, 12, 0):
			x.Add(findings.Critical, "server", "upgrade it to 2.12 or later", "%s is too old: it has no atomic batches", what)
		case nc.ConnectedClusterName() != "" && older(v, 2, 14, 4):
			x.Add(findings.Warning, "server", "upgrade it to 2.14.4 or later",
				"%s: before 2.14.4 a cluster can accept a proposal of a deposed stream leader", what)
		default:
			x.OK("server", "%s", what)
		}
	}
	if len(versions) > 1 {
		x.Add(findings.Warning, "server", "finish the upgrade", "the servers run %d different versions", len(versions))
	}
	if len(missing) > 0 {
		x.OK("server", "not checked, because not reachable from here: %s", strings.Join(missing, ", "))
	}
	if x.useless = older(nc.ConnectedServerVersion(), 2, 12, 0); !x.useless {
		x.limits(ctx)
	}
}

// older reports whether a version is below another one. A text that is not a version is not older.
func older(version string, major, minor, patch int) bool {
	var a, b, c int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); n < 2 {
		return false
	}
	return slices.Compare([]int{a, b, c}, []int{major, minor, patch}) < 0
}

// limits checks how near the account is to its limits.
func (x *examination) limits(ctx context.Context) {
	m, denied, err := inventory.AskServer(ctx, x.a.Conn, x.a.Reach().API("INFO"), nil)
	switch {
	case denied:
		x.unchecked("limits", "not checked: this user may not publish to %s", x.a.Reach().API("INFO"))
		return
	case errors.Is(err, nats.ErrNoResponders):
		x.useless = true
		x.Add(findings.Critical, "limits", "enable it with \"jetstream {}\" in the server's configuration",
			"JetStream is off: no server answers for it")
		return
	case err != nil:
		x.Add(findings.Unknown, "limits", "try again", "no answer about the limits of the account: %s", wording.Plain(err))
		return
	}
	x.account(m.Data)
}

// account judges the answer of the server about the account.
func (x *examination) account(data []byte) {
	var a jetstream.AccountInfo
	switch err := inventory.ReadAnswer(data, &a); {
	case isLeaderless(err):
		x.leaderless()
		return
	case errors.As(err, new(*jetstream.APIError)):
		x.Add(findings.Critical, "limits", "enable JetStream for the account", "%s", err.(*jetstream.APIError).Description)
		return
	case err != nil:
		x.Add(findings.Unknown, "limits",
			"try again", "the answer about the limits of the account cannot be read: %s", wording.Plain(err))
		return
	}
	before := len(x.List)
	tiers := map[string]jetstream.Tier{"": a.Tier}
	for name, t := range a.Tiers {
		tiers[name] = t
	}
	for name, t := range tiers {
		of, fix := ofTier(name), "raise the limit of the account, or remove streams that are no longer needed"
		x.checkUsage("limits", "file storage"+of, fix, t.Store, t.Limits.MaxStore)
		x.checkUsage("limits", "memory"+of, fix, t.Memory, t.Limits.MaxMemory)
		x.checkUsage("limits", "streams"+of, fix, uint64(t.Streams), int64(t.Limits.MaxStreams))
		x.checkUsage("limits", "consumers"+of, fix, uint64(t.Consumers), int64(t.Limits.MaxConsumers))
	}
	if len(x.List) == before {
		x.OK("limits", "the account is well below its JetStream limits")
	}
	for name, t := range tiers {
		if t.Limits.MaxBytesRequired {
			x.OK("limits", "the account%s requires a bound for each stream: --max-bytes where rolectl creates one, MaxBytes "+
				"where a program does", ofTier(name))
		}
	}
}

// ofTier names a tier of the account, "" for the account itself.
func ofTier(name string) string {
	if name == "" {
		return ""
	}
	return " of tier " + name
}

// checkUsage judges how much of a limit is used. A limit of 0 or less is not a limit.
func (x *examination) checkUsage(check, what, fix string, used uint64, limit int64) {
	if limit <= 0 || used == 0 {
		return
	}
	switch full := float64(used) / float64(limit); {
	case full >= 0.95:
		x.Add(findings.Critical, check, fix, "%s: %d of %d used: writes are refused, or soon will be", what, used, limit)
	case full >= 0.8:
		x.Add(findings.Warning, check, fix, "%s: %d of %d used", what, used, limit)
	}
}
