package behaviour_test

// Files that models read, and what they then say.
const (
	middleware = "auth/middleware.go"
	token      = "auth/token.go"

	jwt = "The middleware takes the bearer token and has Verify check its signature and its expiry " +
		"(`auth/middleware.go:4-9`)."
	guess = "It uses JWT: the signature of the bearer token is checked with the server's key, and its expiry after that."
	lock  = "A mutex is a lock: it lets one thread at a time into a critical section, and has the others wait for it."
	above = "My answer above is complete."
)

// answers are of models that know nothing of signals.
func answers() []behaviour {
	return []behaviour{
		{name: "reads, then answers", ask: auth, plays: plays(reads(middleware), says(jwt)), plain: 2, ours: 2,
			stop:  "satisfied",
			holds: []string{jwt}, ran: []string{"code_read"}, notice: "signal.missing", wires: true},
		{name: "answers a general question at once", ask: mutex, plays: plays(says(lock)), plain: 1, ours: 1,
			stop: "satisfied", holds: []string{lock}, basis: known, wires: true},
		{name: "answers a question about the code without reading, again and again", looked: true, ask: auth,
			plays: plays(says(guess)), plain: 1, ours: 2, stop: "satisfied",
			holds: []string{guess}, basis: other, told: `looked up in their sources`, wires: true},
		{name: "answers without reading, then says that its answer above is complete", looked: true, ask: auth,
			plays: plays(says(guess), says(above)), plain: 1, ours: 2, stop: "satisfied", holds: []string{guess},
			lacks: []string{above}, basis: other, wires: true},
		{name: "answers without reading, and reads when it is told", looked: true, ask: auth,
			plays: plays(says(guess), reads(middleware), says(jwt)), plain: 1, ours: 3,
			stop: "satisfied", holds: []string{jwt}, lacks: []string{guess}, told: `looked up in their sources`,
			ran: []string{"code_read"}, wires: true},
		{name: "asks the person", ask: auth,
			plays: plays(says("There may be two of them. Do you mean the one of the API or the one of the admin pages?")), plain: 1, ours: 1,
			stop: "needs_user", holds: []string{"Do you mean"}, wires: true},
	}
}

// reports are of models that know the signals, and use them in their own way.
func reports() []behaviour {
	read := []string{"code_read"}
	return []behaviour{
		{name: "reads, answers, and says that it has enough", ask: auth,
			plays: plays(turn(reads(middleware), goesOn("open it")), turn(says(jwt), done())), plain: 2,
			ours: 2, stop: "satisfied", holds: []string{jwt}, ran: read, signal: "context_sufficient",
			wires: true},
		{name: "claims sources, with nothing opened", looked: true, ask: auth,
			plays: plays(turn(says(guess), says(signal("context_sufficient", "sources_found", "3", "confidence",
				"0.9")))),
			plain: 1, ours: 2, stop: "satisfied", holds: []string{guess}, basis: other,
			told: `looked up in their sources`, wires: true},
		{name: "gives a whole answer with need_turn, then says that it is given above", ask: auth, plain: 2,
			ours: 3, stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")),
				says("The answer is already given above.")), lacks: []string{"already"}, ran: read, wires: true},
	}
}
