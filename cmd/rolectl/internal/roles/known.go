package roles

import (
	"fmt"
	"slices"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// checkZone refuses a zone in which no process is, unless it is forced: a mistyped name would steer
// nobody, and look as if it had.
func checkZone(v *inventory.View, zone string, forced bool) error {
	var zones []string
	for _, m := range v.Members() {
		if m.Zone != "" && !slices.Contains(zones, m.Zone) {
			zones = append(zones, m.Zone)
		}
	}
	slices.Sort(zones)
	switch {
	case forced || slices.Contains(zones, zone):
		return nil
	case len(zones) == 0:
		return unknown(fmt.Errorf("no process is in zone %q: none says by Zone, or ROLES_ZONE, where it is", zone))
	}
	return unknown(fmt.Errorf("no process is in zone %q; zones with processes: %s", zone, wording.FirstFew(zones)))
}

// checkRole refuses a role that the bucket does not know, unless it is forced.
func checkRole(v *inventory.View, role string, forced bool) error {
	if _, known := v.Role(role); known || forced {
		return nil
	}
	if slices.ContainsFunc(v.Members(), func(m election.MemberInfo) bool { return slices.Contains(m.Roles, role) }) {
		return nil
	}
	return unknown(v.UnknownRole(role))
}

// unknown names the way out for a user who means that name.
func unknown(err error) error {
	return cli.UsageError(fmt.Errorf("%w; give --force to steer it all the same", err))
}

// checkSteered reports whether a name is steered, and names those that are. It refuses one that
// nobody has steered, and that nobody knows either. There is nothing to force.
func checkSteered(v *inventory.View, name string, about func(election.Steered) string,
	check func(v *inventory.View, name string, forced bool) error,
) (is bool, steered []string, err error) {
	for _, s := range v.Steered() {
		if of := about(s); of != "" {
			steered = append(steered, of)
		}
	}
	if is = slices.Contains(steered, name); is || check(v, name, false) == nil {
		return is, steered, nil
	}
	err = fmt.Errorf("nothing is known of %q, and it was not steered", name)
	if len(steered) > 0 {
		err = fmt.Errorf("%w; what was: %s", err, wording.FirstFew(steered))
	}
	return false, nil, cli.UsageError(err)
}

// notSteered says that a command has taken nothing back, and what could be.
func notSteered(what, name, done string, steered []string) string {
	if len(steered) == 0 {
		return fmt.Sprintf("%s was not %s: no %s is", name, done, what)
	}
	return fmt.Sprintf("%s was not %s: %ss that are: %s", name, done, what, wording.FirstFew(steered))
}
