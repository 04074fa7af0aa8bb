//! The operators that rules exchange, by class.
//!
//! **Invariant:** an operator is exchanged for one of its own class only.

/// Operators that may take each other's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Arithmetic,
    Relational,
    Bitwise,
    Shift,
    Logical,
    ArithmeticAssign,
    BitwiseAssign,
    ShiftAssign,
}

macro_rules! binary_operators {
    ($($variant:ident $text:literal $name:literal $class:ident $precedence:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum BinaryOperator { $($variant,)* }

        impl BinaryOperator {
            /// All, class by class.
            pub const ALL: &[BinaryOperator] = &[$(BinaryOperator::$variant,)*];

            /// As C writes it.
            pub fn text(self) -> &'static str {
                match self { $(BinaryOperator::$variant => $text,)* }
            }

            /// As rules are named by it.
            pub fn name(self) -> &'static str {
                match self { $(BinaryOperator::$variant => $name,)* }
            }

            pub fn class(self) -> Class {
                match self { $(BinaryOperator::$variant => Class::$class,)* }
            }

            /// How tightly it binds: more is tighter.
            pub fn precedence(self) -> u8 {
                match self { $(BinaryOperator::$variant => $precedence,)* }
            }
        }
    };
}

binary_operators! {
    Add "+" "plus" Arithmetic 9;
    Subtract "-" "minus" Arithmetic 9;
    Multiply "*" "times" Arithmetic 10;
    Divide "/" "divide" Arithmetic 10;
    Remainder "%" "modulo" Arithmetic 10;
    Greater ">" "gt" Relational 7;
    GreaterEqual ">=" "ge" Relational 7;
    Less "<" "lt" Relational 7;
    LessEqual "<=" "le" Relational 7;
    Equal "==" "eq" Relational 6;
    NotEqual "!=" "ne" Relational 6;
    And "&" "and" Bitwise 5;
    Or "|" "or" Bitwise 3;
    Xor "^" "xor" Bitwise 4;
    ShiftLeft "<<" "shl" Shift 8;
    ShiftRight ">>" "shr" Shift 8;
    LogicalAnd "&&" "logical-and" Logical 2;
    LogicalOr "||" "logical-or" Logical 1;
    AddAssign "+=" "plus-assign" ArithmeticAssign 0;
    SubtractAssign "-=" "minus-assign" ArithmeticAssign 0;
    MultiplyAssign "*=" "times-assign" ArithmeticAssign 0;
    DivideAssign "/=" "divide-assign" ArithmeticAssign 0;
    RemainderAssign "%=" "modulo-assign" ArithmeticAssign 0;
    AndAssign "&=" "and-assign" BitwiseAssign 0;
    OrAssign "|=" "or-assign" BitwiseAssign 0;
    XorAssign "^=" "xor-assign" BitwiseAssign 0;
    ShiftLeftAssign "<<=" "shl-assign" ShiftAssign 0;
    ShiftRightAssign ">>=" "shr-assign" ShiftAssign 0;
}

impl BinaryOperator {
    /// From C's text.
    pub fn from_text(text: &str) -> Option<BinaryOperator> {
        BinaryOperator::ALL.iter().copied().find(|operator| operator.text() == text)
    }

    /// The other operators of its class, in order.
    pub fn others(self) -> impl Iterator<Item = BinaryOperator> {
        BinaryOperator::ALL
            .iter()
            .copied()
            .filter(move |other| other.class() == self.class() && *other != self)
    }

    /// Whether it writes to its left side.
    pub fn assigns(self) -> bool {
        matches!(self.class(), Class::ArithmeticAssign | Class::BitwiseAssign | Class::ShiftAssign)
    }

    /// Whether its right side must not be zero.
    pub fn divides(self) -> bool {
        use BinaryOperator::{Divide, DivideAssign, Remainder, RemainderAssign};
        matches!(self, Divide | DivideAssign | Remainder | RemainderAssign)
    }
}

/// A unary operator. The paper lists the logical negation; its bitwise sister
/// counts as the same operator here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnaryOperator {
    /// `++x`
    PreIncrement,
    /// `--x`
    PreDecrement,
    /// `x++`
    PostIncrement,
    /// `x--`
    PostDecrement,
    /// `!x` or `~x`
    Negation,
}

impl UnaryOperator {
    /// All, in the order of the rules.
    pub const ALL: [UnaryOperator; 5] = [
        UnaryOperator::PreIncrement,
        UnaryOperator::PreDecrement,
        UnaryOperator::PostIncrement,
        UnaryOperator::PostDecrement,
        UnaryOperator::Negation,
    ];

    /// As rules are named by it.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOperator::PreIncrement => "pre-increment",
            UnaryOperator::PreDecrement => "pre-decrement",
            UnaryOperator::PostIncrement => "post-increment",
            UnaryOperator::PostDecrement => "post-decrement",
            UnaryOperator::Negation => "negation",
        }
    }

    /// Whether it stands behind its operand.
    pub fn is_postfix(self) -> bool {
        matches!(self, UnaryOperator::PostIncrement | UnaryOperator::PostDecrement)
    }
}
