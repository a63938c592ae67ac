package findings

import (
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// forgotten is after how long what an operator has told looks as if nobody remembers it.
const forgotten = 24 * time.Hour

// SteeredText says what an operator has told about a zone or a role: by whom, and why.
func SteeredText(s *election.Steered) string {
	text := "paused for all"
	switch {
	case s.Hard:
		text = "drained hard"
	case s.Zone != "":
		text = "drained"
	}
	if s.By != "" {
		text += " by " + s.By
	}
	if s.Reason != "" {
		text += " (" + s.Reason + ")"
	}
	return text
}

// SteeredSince says that, and since when and until when.
func SteeredSince(s *election.Steered, now time.Time) string {
	text := SteeredText(s) + ", since " + s.Since.UTC().Format("2006-01-02 15:04") + " UTC"
	if left := s.Until.Sub(now); !s.Until.IsZero() && left > 0 {
		text += ", " + wording.Age(left) + " left"
	}
	return text
}

// SteeredBack is the command that takes it back.
func SteeredBack(s *election.Steered) string {
	if s.Zone != "" {
		return "rolectl zone undrain " + s.Zone
	}
	return "rolectl roles resume " + s.Role
}

// Steered reports which zones are drained and which roles are paused for all. Without an end that
// is a warning after a day: somebody may have forgotten it. So are leaders in a drained zone, which
// keep what nobody elsewhere can lead.
func (l *List) Steered(all []election.Steered, members []MemberFacts, now time.Time) {
	for i := range all {
		s := &all[i]
		what := "role " + s.Role
		if s.Zone != "" {
			what = "zone " + s.Zone
		}
		text, back := what+" is "+SteeredSince(s, now), SteeredBack(s)
		leads := leadingIn(s.Zone, members)
		switch {
		case len(leads) > 0:
			l.Add(Warning, "steering",
				"start processes elsewhere that take part in these roles, or drain it with --hard; to take it back: "+back,
				"%s, and %s led there: nobody elsewhere can lead that, or it moves now", text, areStill(leads))
		case s.Until.IsZero() && now.Sub(s.Since) > forgotten:
			l.Add(Warning, "steering", "if it is over: "+back, "%s", text)
		default:
			l.OK("steering", "%s; %s takes that back", text, back)
		}
	}
}

// leadingIn is what is led in a zone.
func leadingIn(zone string, members []MemberFacts) (roles []string) {
	for i := range members {
		if zone != "" && members[i].Info.Zone == zone {
			roles = append(roles, members[i].Leads...)
		}
	}
	slices.SortFunc(roles, strings.Compare)
	return roles
}

func areStill(roles []string) string {
	verb := " is still"
	if len(roles) > 1 {
		verb = " are still"
	}
	return wording.FirstFew(roles) + verb
}
