package language

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestOfShortTexts(t *testing.T) {
	for code, texts := range map[string]string{
		"pt": `preciso comprar pão
			Acho que devíamos adiar o lançamento.
			tô cansado demais
			Vender a casa da praia?
			reunião remarcada
			e aí, tudo bem com vocês
			Nova ideia de aplicativo
			O carro quebrou de novo.
			nao sei se vale a pena
			Abrir uma padaria no bairro
			Quero mudar de emprego
			obrigado
			Olá!
			os meninos chegaram atrasados
			Trocar o fornecedor com urgência
			Isso não faz sentido nenhum.`,
		"en": `need to buy bread
			I think we should postpone the launch.
			too tired
			Sell the beach house?
			meeting moved
			so how's everyone doing
			New idea for an app
			The car broke down again.
			not sure whether it's worth it
			Open a bakery around the corner
			I want another job
			thanks
			Hello Sibyl
			the boys came late
			Switch supplier quickly
			This makes no sense at all.`,
		"fr": `je dois acheter du pain
			Je pense que nous devrions attendre encore un peu avant de vendre la maison
			trop fatigué pour ça
			Marque la tâche 2 comme terminée
			La voiture est encore en panne.
			merci`,
		"es": `tengo que comprar pan
			Creo que deberíamos esperar antes de vender la casa.
			borra la tarea de la reunión
			El coche se averió otra vez.
			no sé si vale la pena
			gracias`,
		"de": `muss Brot kaufen
			Ich finde, wir sollten den Start verschieben.
			bin zu müde
			Das Strandhaus verkaufen?
			Termin verlegt
			na, wie geht es euch so
			Neue Idee für eine App
			Das Auto ist schon wieder kaputt.
			weiß nicht, ob sich das lohnt
			Eine Bäckerei um die Ecke aufmachen
			Ich will eine andere Stelle
			danke
			Hallo Welt
			die Jungs kamen zu spät
			Lieferanten schnell wechseln
			Das ergibt überhaupt keinen Sinn.`,
	} {
		for text := range strings.Lines(texts) {
			assert.Equalf(t, Of(text), code, "%q", strings.TrimSpace(text))
		}
	}
}

func TestShortEnglishIsTakenForNoOtherLanguage(t *testing.T) {
	for _, text := range []string{"rent or buy", "Rent or buy?", "red or blue car?", "Buy or rent a house?", "red car",
		"sell car", "a car or a bike", "son or daughter", "die hard", "pour on plate", "Paris or London",
		"quit job or stay", "car insurance or none", "fish or meat", "war and peace", "pro or con", "tea or coffee",
		"stay or leave", "cats or dogs", "gold or silver", "do me no harm", "so was", "war or die?", "mine or man's",
		"an old dame", "a pan or a pot", "no sale", "come in", "as a hero"} {
		of := Of(text)
		assert.That(t, of == "en" || of == "", "%q is taken for %q", text, of)
	}
}

func TestShortTextsOfOthersAreStillTheirs(t *testing.T) {
	for text, want := range map[string]string{"louer ou acheter": "fr", "mieten oder kaufen": "de",
		"alugar ou comprar": "pt", "die Katze": "de", "des fleurs": "fr", "Mieten oder kaufen?": "de",
		"une voiture rouge ou bleue ?": "fr", "Rotes oder blaues Auto?": "de", "Um carro azul ou vermelho?": "pt"} {
		assert.Equalf(t, Of(text), want, "%q", text)
	}
}

func TestOfBorrowedWordsFollowsTheSentence(t *testing.T) {
	for text, want := range map[string]string{
		"O deploy do backend ficou broken, mas o team resolveu no hotfix depois do standup.":             "pt",
		"A gente faz um brainstorming no kickoff e define o roadmap do growth team.":                     "pt",
		"Preciso dar um feedback pro meu product owner sobre o sprint planning, o burnout tá pesado":     "pt",
		"Wir haben das Meeting gecancelt, weil der Product Owner noch kein Feedback zum Release hat.":    "de",
		"Der Launch vom neuen Feature ist nice, aber das Onboarding und der Support sind ein Bottleneck": "de",
		"We had a caipirinha with the Bundeskanzler in São Paulo and talked about Weltschmerz.":          "en",
		"She kept saying saudade, and I never understood what that meant to her, or to my Oma.":          "en",
	} {
		assert.Equalf(t, Of(text), want, "%q", text)
	}
}

func TestOfIsTheLanguageOfMostTexts(t *testing.T) {
	got := Of("Ich habe lange darüber nachgedacht.", "OK", "Und jetzt weiß ich, was ich will.", "Let's go.")
	assert.That(t, got == "de", "got %q", got)
}

func TestOfSaysNothingWhereNothingTells(t *testing.T) {
	for _, text := range []string{"", " \n", "12:30 42 %", "groceries", "database migration",
		"idle connection", "会议记录", "Я думаю, что нам нужно подождать ещё немного",
		"Ik denk dat wij nog even moeten wachten met het verkopen van ons huis",
		"Olen sitä mieltä, että meidän pitäisi odottaa vielä vähän aikaa",
		"Myślę, że powinniśmy jeszcze trochę poczekać z tą decyzją"} {
		assert.Equalf(t, Of(text), "", "%q", text)
	}
}
