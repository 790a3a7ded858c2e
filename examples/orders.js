/** An origin of one's own: the orders of a shop, some of which were cancelled and are gone. */
export default function orders({ count, cancelled }) {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const left = numbers.filter((order) => order % cancelled !== 0);
  return {
    name: 'ORDERS',
    messages: left.map((order) => ({
      seq: order,
      subject: `orders.${order % 2 === 0 ? 'paid' : 'open'}`,
      body: JSON.stringify({ order, total: order * 10 }),
    })),
  };
}
