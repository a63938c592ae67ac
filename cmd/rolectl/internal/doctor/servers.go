package doctor

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// mayNot begins why nobody was asked, if that is for lack of permission.
const mayNot = "this user may not publish to "

// Questions that every server of a NATS system answers. An account may ask the first one about its
// own connections. The second one is for users of the system account, and for accounts that import
// it.
const (
	askServers = "$SYS.REQ.SERVER.PING.CONNZ"
	askMeta    = "$SYS.REQ.SERVER.PING.JSZ"
)

// systemServer is what a server says about itself, and about JetStream if it was asked for that.
type systemServer struct {
	Name      string
	Cluster   string
	Domain    string
	Version   string `json:"ver"`
	JetStream bool
	Meta      *metaGroup `json:"-"`
}

// metaGroup is JetStream's meta group as one server sees it.
type metaGroup struct {
	Leader   string
	Size     int `json:"cluster_size"`
	Replicas []struct{ Name string }
}

// readServer reads the answer of a server to either question. ok is false for anything else.
func readServer(data []byte) (s systemServer, ok bool) {
	var answer struct {
		Server systemServer
		Data   struct {
			Meta *metaGroup `json:"meta_cluster"`
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return s, false
	}
	s = answer.Server
	s.Meta = answer.Data.Meta
	return s, s.Name != ""
}

// asked asks all servers, over a connection. It returns what has kept it from seeing any.
func asked(ctx context.Context, nc *nats.Conn, subject string) (all []systemServer, why string) {
	answers, denied, err := inventory.AskServers(ctx, nc, subject, []byte(`{"limit":1}`))
	for _, m := range answers {
		if s, ok := readServer(m.Data); ok {
			all = append(all, s)
		}
	}
	switch {
	case len(all) > 0:
		return all, ""
	case denied:
		return nil, mayNot + subject
	case errors.Is(err, nats.ErrNoResponders):
		return nil, "no server answers this user at " + subject
	case err != nil:
		return nil, "no answer at " + subject + ": " + wording.Plain(err)
	}
	return nil, "no answer at " + subject
}

// keepers are the servers whose JetStream keeps the bucket: those in its domain. A server that does
// not name its domain is in the one that has none.
func keepers(all []systemServer, domain string) (some []systemServer) {
	for _, s := range all {
		if s.JetStream && s.Domain == domain {
			some = append(some, s)
		}
	}
	return some
}
