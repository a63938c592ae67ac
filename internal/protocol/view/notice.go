package view

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// Notice is what a view has to tell: its owner only passes it on, as an effect.
type Notice interface{ IsEffect() }

type LeaderChanged struct {
	Role, Leader string // Leader is "" while there is none
	Epoch        uint64
}

// CandidatesChanged tells how many members would lead a role.
type CandidatesChanged struct {
	Role string
	N    int
}

type RoleVacant struct {
	Role, By, Reason string
	Epoch            uint64 // of the term that ended so, 0 if it was not seen
}

type MemberJoined struct {
	Peer    record.Peer
	Session uint64
}

type MemberChanged struct{ Peer record.Peer } // what it says about itself

type MemberLeft struct {
	Peer   record.Peer
	Reason string
}

type Ignored struct{ Key, Reason string }

func (LeaderChanged) IsEffect() {}

func (CandidatesChanged) IsEffect() {}

func (RoleVacant) IsEffect() {}

func (MemberJoined) IsEffect() {}

func (MemberLeft) IsEffect() {}

func (MemberChanged) IsEffect() {}

func (Ignored) IsEffect() {}
