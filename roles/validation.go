package roles

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// ConfigError is one fault of a configuration. All faults of one are joined: the message has a line
// for each.
type ConfigError struct {
	Field string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ConfigError) Error() string { return "roles: " + e.Field + ": " + e.Fix }

// Validate returns every fault of c and of the roles at once, nil when there is none. The faults
// are *[ConfigError] and *election.ConfigError.
func (c Config) Validate(roles ...Role) error {
	return errors.Join(c.validateConnection(), c.session().Validate(), validateRoles(roles, nil, c.heartbeat()))
}

// defaultTTL is the default of the session.
const defaultTTL = 10 * time.Second

// heartbeat is the heartbeat interval that the session will have. Roles are checked against it even
// if the configuration of the session has faults, so that all faults are reported at once.
func (c Config) heartbeat() time.Duration {
	switch {
	case c.HeartbeatInterval != 0:
		return c.HeartbeatInterval
	case c.TTL != 0:
		return c.TTL / 5
	}
	return defaultTTL / 5
}

func (c Config) validateConnection() error {
	switch {
	case c.Servers != nil && c.Conn != nil:
		return &ConfigError{
			"Servers",
			"a shared Conn is not reconfigured: leave Conn out, and the manager connects to the servers of the list",
		}
	case c.Servers != nil && c.URL != "":
		return &ConfigError{"Servers", "both URL and Servers: set URL for fixed servers, or Servers for a list that changes"}
	case c.Servers != nil && configured(c.NATSOptions).ReconnectToServerCB != nil:
		return &ConfigError{"NATSOptions", "nats.ReconnectToServer, and Servers chooses the server: leave one of them out"}
	case c.URL == "" && c.Conn == nil && c.Servers == nil:
		return &ConfigError{"URL", "no URL, no Servers and no Conn: set URL or Servers to have the manager " +
			"connect, or Conn to share a connection"}
	case c.URL != "" && c.Conn != nil:
		return &ConfigError{
			"URL",
			"both URL and Conn: set URL to have the manager connect, or Conn to share a connection, not both",
		}
	case c.Conn != nil && len(c.NATSOptions) > 0:
		return &ConfigError{
			"NATSOptions",
			"a shared Conn is not reconfigured: give the options to nats.Connect, or set URL instead of Conn",
		}
	case c.Conn != nil && c.Conn.Opts.NoEcho:
		return &ConfigError{"Conn", "made with nats.NoEcho(): " + noEcho}
	case c.Conn != nil:
		return nil
	case configured(c.NATSOptions).NoEcho:
		return &ConfigError{"NATSOptions", "nats.NoEcho(): " + noEcho}
	case c.Servers != nil:
		return nil
	}
	for server := range strings.SplitSeq(c.URL, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		if u, err := url.Parse(server); err != nil || u.Hostname() == "" {
			return &ConfigError{
				"URL",
				"a server in it has no readable address: use nats://host:port, several separated by commas",
			}
		}
	}
	return nil
}

const noEcho = "this process would not receive its own messages: leave NoEcho out"

// configured is what the options set. An error of an option is left to nats.Connect.
func configured(options []nats.Option) (o nats.Options) {
	for _, option := range options {
		if option != nil {
			_ = option(&o)
		}
	}
	return o
}

// validateRoles checks roles that are added to the present roles. The shards of a group have their
// faults in common: one shard tells them.
func validateRoles(roles []Role, there map[string]*member, heartbeat time.Duration) error {
	var faults []error
	seen, groups, faulty := map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, mb := range there {
		mb.role.countShards(groups)
	}
	for _, r := range roles {
		if r.sharded && faulty[r.Group] {
			continue
		}
		err := r.validateShards(groups)
		switch {
		case err != nil:
		case r.Name == "":
			err = &ConfigError{"Name", "it is missing: give the role the same name in each process that takes part in it"}
		default:
			err = errors.Join(r.campaign().Validate(heartbeat), r.validateWork())
			if seen[r.Name] || there[r.Name] != nil {
				twice := &ConfigError{"Role", fmt.Sprintf("%q is there twice: give each role one entry", r.Name)}
				err = errors.Join(err, twice)
			}
		}
		seen[r.Name] = true
		r.countShards(groups)
		if err != nil {
			faulty[r.Group] = faulty[r.Group] || r.sharded
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (r Role) validateWork() error {
	callbacks := r.OnPromote != nil || r.OnDemote != nil
	switch {
	case r.Lead != nil && callbacks:
		return &ConfigError{"Lead", fmt.Sprintf("role %q has Lead together with OnPromote or OnDemote: use one or the other",
			r.Name)}
	case r.Lead == nil && !callbacks:
		return &ConfigError{"Lead", fmt.Sprintf("role %q has nothing to do when it leads: set Lead, or OnPromote", r.Name)}
	case r.Lead == nil && r.OnPromote == nil:
		return &ConfigError{"OnDemote", fmt.Sprintf("role %q has OnDemote alone: set OnPromote too, or Lead instead", r.Name)}
	}
	return nil
}
