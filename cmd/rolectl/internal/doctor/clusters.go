package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	notAvailable = 10008 // JetStream's error when its meta group has no leader
	wayFix       = "mend the way to the servers that are not reached, or start them: nats server report jetstream"
)

// leaderless adds what it means that JetStream's meta group has no leader here.
func (x *examination) leaderless() {
	x.lost = true
	x.Add(findings.Critical, "clusters",
		wayFix, "JetStream's meta group has no leader on this side: sessions that are open "+
			"continue, and a process that connects again cannot watch, and loses its roles")
}

func isLeaderless(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.ErrorCode == notAvailable
}

// clusters checks whether new watches can be made after a cut between clusters. They need the
// leader of JetStream's meta group, which spans all clusters.
func (x *examination) clusters(ctx context.Context) {
	domain := cmp.Or(x.a.Reach().Domain(), x.ownDomain())
	servers, why := keepers(x.servers, domain), x.unseen
	members, unseen := x.askMeta(ctx)
	members = keepers(members, domain)
	if len(servers) == 0 {
		servers = members
	}
	switch {
	case len(servers) == 0 && strings.HasPrefix(why, mayNot):
		x.unchecked("clusters", "not looked at: %s", why)
		return
	case len(servers) == 0 && why != "":
		x.OK("clusters", "not looked at: %s", why)
		return
	case len(servers) == 0:
		x.OK("clusters", "not looked at: no server of JetStream domain %q answers here", domain)
		return
	}
	group := groupOf(members)
	x.judgeClusters(servers, group)
	x.judgeMeta(members, group)
	if len(members) == 0 && len(servers) > 1 && unseen != "" {
		x.OK("clusters", "servers that do not answer are not known: %s; a user of the system account knows them "+
			"(--system-context)", unseen)
	}
}

// ownDomain is the domain of the server that this connection leads to.
func (x *examination) ownDomain() string {
	for _, s := range x.servers {
		if s.Name == x.a.Conn.ConnectedServerName() {
			return s.Domain
		}
	}
	return ""
}

// askMeta asks all servers about the meta group: as the user of the system context, if there is
// one. Otherwise the account may import the question.
func (x *examination) askMeta(ctx context.Context) (members []systemServer, why string) {
	if x.system == nil {
		return asked(ctx, x.a.Conn, askMeta)
	}
	nc, err := x.system.Dial(nats.NoReconnect())
	if err == nil {
		defer nc.Close()
		if members, why = asked(ctx, nc, askMeta); why == "" {
			return members, ""
		}
		err = errors.New(why)
	}
	x.Add(findings.Unknown, "clusters", "give the context of a user of the system account",
		"context %s does not show the meta group: %s", x.system.Context, wording.Plain(err))
	return nil, ""
}

// groupOf is the meta group as its leader sees it, or as another server does that knows a leader;
// nil if nobody has answered, or one server is alone.
func groupOf(members []systemServer) (group *metaGroup) {
	for _, m := range members {
		if m.Meta != nil && (group == nil || m.Meta.Leader == m.Name || group.Leader == "") {
			group = m.Meta
		}
	}
	return group
}

// judgeClusters looks for a cluster whose loss leaves neither half with a majority. It needs to
// know all servers.
func (x *examination) judgeClusters(servers []systemServer, group *metaGroup) {
	sizes := map[string]int{}
	for _, s := range servers {
		sizes[s.Cluster]++
	}
	var said, halves []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		said = append(said, fmt.Sprintf("%s %d", name, sizes[name]))
		if 2*sizes[name] == len(servers) {
			halves = append(halves, name)
		}
	}
	all := fmt.Sprintf("%s with JetStream, by cluster: %s", wording.Count(uint64(len(servers)), "server"),
		strings.Join(said, ", "))
	switch {
	case len(servers) == 1:
		x.OK("clusters", "one server with JetStream")
	case group != nil && group.Size > len(servers):
		x.OK("clusters", "%s, of %d", all, group.Size)
	case len(sizes) == 1:
		x.OK("clusters", "one cluster, of %s with JetStream", wording.Count(uint64(len(servers)), "server"))
	case len(halves) == 0:
		x.OK("clusters", "%s; any one cluster may be cut off", all)
	default:
		x.Add(findings.Warning, "clusters",
			"let one cluster have more than half of these servers, or add a server at a third place "+
				"(docs/guides/leaf-nodes.md)",
			"%s: when %s is cut off, neither side has a majority, and nobody can make a watch", all,
			strings.Join(halves, " or "))
	}
}

// judgeMeta looks for members of the meta group that do not answer.
func (x *examination) judgeMeta(members []systemServer, group *metaGroup) {
	if group == nil {
		return
	}
	var missing []string
	for _, r := range group.Replicas {
		if !slices.ContainsFunc(members, func(m systemServer) bool { return m.Name == r.Name }) {
			missing = append(missing, r.Name)
		}
	}
	slices.Sort(missing)
	switch {
	case group.Leader == "" && !x.lost:
		x.leaderless()
	case group.Leader == "": // it was said already
	case len(missing) > 0:
		x.Add(findings.Warning, "clusters", wayFix, "%s of JetStream's meta group, which has %d, without an answer: %s",
			wording.Count(uint64(len(missing)), "server"), group.Size, wording.FirstFew(missing))
	default:
		x.OK("clusters", "%s leads JetStream's meta group, and all of it answers: %s", group.Leader,
			wording.Count(uint64(group.Size), "server"))
	}
}
