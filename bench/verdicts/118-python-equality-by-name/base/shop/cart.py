class Money:
    def __init__(self, cents):
        self.cents = cents
