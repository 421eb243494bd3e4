export const spent = {
  "spent.days": ["Days", "Tage", "Dias"],
  "spent.last": ["The last {n} days", "Die letzten {n} Tage", "Os últimos {n} dias"],
  "spent.none": ["No model was asked on these days.", "An diesen Tagen wurde kein Modell gefragt.", "Nestes dias não se perguntou a nenhum modelo."],
  "spent.plot": ["Costs by day; the tables below say the same", "Kosten je Tag; die Tabellen darunter sagen dasselbe", "Custos por dia; as tabelas abaixo dizem o mesmo"],
  "spent.models": ["By model", "Je Modell", "Por modelo"],
  "spent.by.day": ["By day", "Je Tag", "Por dia"],
  "spent.tokens": ["Tokens", "Token", "Tokens"],
  "spent.cost": ["Cost", "Kosten", "Custo"],
  "spent.without": ["Without {models}: no price is known.", "Ohne {models}: kein Preis ist bekannt.", "Sem {models}: não se conhece preço."],
  "spent.unpriced": ["no price", "kein Preis", "sem preço"],
} as const;
