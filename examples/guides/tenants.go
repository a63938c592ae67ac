package guides

import "github.com/rolemanager/rolemanager/assign"

// Letter is mail of a tenant.
type Letter struct {
	Tenant string `json:"tenant"`
	To     string `json:"to"`
}

// send is a kind whose tenants take turns.
var send = assign.NewKind[Letter, string]("letter.send.v1",
	assign.FairBy(func(l Letter) string { return l.Tenant }),
	assign.FairShares(map[string]int{"acme": 3}), // the others have one
)
