package findings

import (
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// Bucket is what is seen of the roles and members of a bucket at one moment.
type Bucket struct {
	Name    string
	Now     time.Time
	Roles   []RoleFacts
	Members []MemberFacts
	Steered []election.Steered
	Spread  []election.SpreadInfo
}

// Bucket judges the roles and members of a bucket. All that the doctor and the page say about them
// is said here, so that both say the same.
func (l *List) Bucket(b *Bucket) {
	members := make([]election.MemberInfo, 0, len(b.Members))
	for i := range b.Members {
		members = append(members, b.Members[i].Info)
	}
	l.Members(b.Members)
	l.Steered(b.Steered, b.Members, b.Now)
	l.Paused(b.Roles)
	l.Roles(b.Name, b.Roles, members)
	l.Unplaced(b.Spread)
}
